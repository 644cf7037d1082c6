"""Where a message is written: grows with its text, sends with Enter, keeps the draft otherwise."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.domain.text import is_blank
from app.ui.chat.attachments_tray import AttachmentTray
from app.ui.chat.composer_buttons import ComposerButtons, Moment
from app.ui.chat.composer_editing import Edited
from app.ui.chat.composer_field import ComposerField
from app.ui.chat.folder_chip import FolderButton, FolderChip
from app.ui.theme import Theme, tinted_icon

if TYPE_CHECKING:  # Imported when they are first needed.
    from collections.abc import Callable

    from app.ui.chat.command_completion import CommandCompletion
    from app.ui.chat.composer_editing import EditingLine
    from app.ui.chat.slash_commands import TypedCommand

MAX_COLUMN: Final = 784
"""Width in pixels of the column the transcript is set in, before any zoom."""
_NARROW_PX: Final = 320
"""Below this width, before any zoom, the buttons stand below the field."""


class Composer(QWidget):
    """The field, its buttons and the line below it.

    While a reply is written its button stops it and Enter queues. While a message is being written to disk the field
    can't be changed. Another message may stand in it to be changed: Enter saves that then, or sends it again.
    """

    send_requested = Signal(str)
    """To be sent, or to be queued for after the reply that is being written."""
    queue_requested = Signal(str, object)
    """To be sent at this `Moment`."""
    save_requested = Signal(str)
    """The new text of the message that is being changed."""
    edit_cancelled = Signal()
    last_wanted = Signal()
    """The person wants to change the message that was sent last: Up in the empty field."""
    stop_requested = Signal()
    text_changed = Signal()
    content_changed = Signal()
    """There is something to send now, or nothing any more."""
    command_entered = Signal(object)
    """A `TypedCommand` instead of a message."""
    attach_requested = Signal()
    """The person wants to choose files."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerArea")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._is_streaming = False
        self._may_write = True
        self._is_busy = False
        self._edited: Edited | None = None
        self._had_content = False
        self._hint_is_error = False
        self._was_too_early = False
        self._hint_text = ""
        self._notice = ""
        self._completion: CommandCompletion | None = None
        self._editing_line: EditingLine | None = None
        self.field = ComposerField()
        self.field.setPlaceholderText(self.tr("Write a message…"))
        self.field.setAccessibleName(self.tr("Message"))
        self.folder_chip = FolderChip()
        self.folder_button = FolderButton()
        self.tray = AttachmentTray(theme)
        self._attach_button = QToolButton()
        self._attach_button.setObjectName("flat")
        self._attach_button.setAccessibleName(self.tr("Attach files"))
        self._attach_button.setToolTip(self.tr("Attach files (Ctrl+Shift+A)"))
        self.buttons = ComposerButtons(theme)
        self._hint = QLabel()
        self._hint.setObjectName("composerHint")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        self._hint.setWordWrap(True)
        self._notice_line = QLabel()
        self._notice_line.setObjectName("composerHint")
        self._notice_line.setTextFormat(Qt.TextFormat.PlainText)
        self._notice_line.setWordWrap(True)
        self._frame = QFrame()
        self._frame.setObjectName("composer")
        self._lay_out()
        self.field.submitted.connect(self.submit)
        self.field.up_pressed.connect(self._want_last)
        self.field.focus_changed.connect(self._show_focus)
        self.field.textChanged.connect(self._text_changed)
        self.tray.changed.connect(self._files_changed)
        self.tray.left.connect(self.field.setFocus)
        self._attach_button.clicked.connect(self.attach_requested)
        self.buttons.submit_pressed.connect(self.submit)
        self.buttons.stop_pressed.connect(self.stop_requested)
        self.buttons.queue_pressed.connect(self.submit_at)
        self.set_theme(theme)
        self.set_hint("")

    def _lay_out(self) -> None:
        self._row = QHBoxLayout()
        self._row.addStretch(1)
        for button in (self.folder_button, self._attach_button, self.buttons):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(8)
        self._line.addWidget(self.field, 1)
        self._line.addLayout(self._row)
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(12, 8, 8, 8)
        inner.setSpacing(8)
        inner.addWidget(self.folder_chip, 0, Qt.AlignmentFlag.AlignLeft)
        inner.addWidget(self.tray)
        inner.addLayout(self._line)
        self._column = QWidget()
        stack = QVBoxLayout(self._column)
        stack.setContentsMargins(12, 0, 12, 8)
        stack.setSpacing(4)
        stack.addWidget(self._frame)
        stack.addWidget(self._hint)
        stack.addWidget(self._notice_line)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(0)
        outer.addWidget(self._column, 1)
        outer.addStretch(0)

    def set_theme(self, theme: Theme) -> None:
        """Draw the button in the colours of `theme`, and all of it with its zoom."""
        self._column.setMaximumWidth(theme.px(MAX_COLUMN))
        self._narrow_px = theme.px(_NARROW_PX)
        self._arrange()
        self.buttons.set_theme(theme)
        size = theme.px(18)
        self._attach_button.setFixedSize(theme.px(32), theme.px(32))
        self._attach_button.setIconSize(QSize(size, size))
        self._attach_button.setIcon(tinted_icon("paperclip", theme.muted, size=size))
        self.folder_chip.set_theme(theme)
        self.folder_button.set_theme(theme)
        self.tray.set_theme(theme)
        self._show_button()

    def _arrange(self) -> None:
        """Put the buttons below the field where they would leave it no room."""
        is_narrow = self.width() < self._narrow_px
        direction = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._line.setDirection(direction)
        self._row.setSpacing(0 if is_narrow else 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def leave_right(self, width: int) -> None:
        """Leave `width` pixels free at the right, so that the field stands below the transcript's column."""
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, width, 0)

    def text(self) -> str:
        """Return what stands in the field, to the character; only paragraph separators become line feeds.

        Qt's plain text would turn no-break spaces into spaces.
        """
        return self.field.document().toRawText().replace("\u2029", "\n")

    def set_text(self, text: str) -> None:
        """Replace what stands in the field; the cursor goes behind it."""
        self.field.setPlainText(text)
        cursor = self.field.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.field.setTextCursor(cursor)

    @Slot(str)
    def go_on_typing(self, text: str) -> None:
        """Take over what was typed elsewhere, as if it had been typed here."""
        if not self.field.isReadOnly():
            self.field.setFocus()
            self.field.insertPlainText(text)

    def insert_text(self, text: str) -> None:
        """Put text where the cursor is."""
        if not self.field.isReadOnly():
            self.field.setFocus()
            self.field.insertPlainText(text)

    # Files

    @property
    def may_attach(self) -> bool:
        """Whether files may be given to the next message now."""
        return self._may_write and not self._is_busy

    @Slot(QMimeData)
    def take(self, source: QMimeData) -> None:
        """Attach what was dropped anywhere on the page."""
        if self.may_attach:
            self.field.insertFromMimeData(source)
            self.field.setFocus()

    def set_notice(self, text: str) -> None:
        """Show a line below the field for as long as it is true; it takes the place of how to send."""
        if text != self._notice:
            self._notice = text
            self._notice_line.setText(text)
            self.set_hint(self._hint_text, is_error=self._hint_is_error)

    # What may be done

    def set_streaming(self, *, on: bool) -> None:
        """Say whether a reply is being written, so that Send is Stop."""
        if on != self._is_streaming:
            self._is_streaming = on
            if on or not self._hint_is_error:
                self.set_hint("")
        self._show_button()

    def set_editing(self, *, on: bool, edited: Edited = Edited.QUEUED) -> None:
        """Say whether what stands in the field is a message that is being changed, and which kind of one."""
        if on is not self.is_editing or (on and edited is not self._edited):
            self._edited = edited if on else None
            if on:
                self._editing_line = self._editing_line or self._make_editing_line()
                self._editing_line.show_for(edited)
                self.order_stops()
            if self._editing_line is not None:
                self._editing_line.setVisible(on)
            self.set_hint("")
        self._show_button()

    @property
    def is_editing(self) -> bool:
        """Whether a message is being changed."""
        return self._edited is not None

    def _make_editing_line(self) -> EditingLine:
        from app.ui.chat.composer_editing import EditingLine

        made = EditingLine()
        made.save_pressed.connect(self.submit)
        made.cancel_pressed.connect(self.edit_cancelled)
        inner = self._frame.layout()
        assert isinstance(inner, QVBoxLayout)
        inner.insertWidget(0, made)
        return made

    def set_writable(self, *, on: bool) -> None:
        """Say whether messages may be written here at all."""
        self.field.setReadOnly(not on or self._is_busy)
        if on != self._may_write:
            self._may_write = on
            self.field.setPlaceholderText(self.tr("Write a message…") if on else self.tr("This chat can only be read"))
            self.set_hint("")
        self.tray.set_enabled(on=self.may_attach)
        self._show_button()

    def set_busy(self, *, on: bool) -> None:
        """Say whether a message is on its way to disk or another chat is being opened: the text stands still."""
        self._is_busy = on
        self.field.setReadOnly(on or not self._may_write)
        self.tray.set_enabled(on=self.may_attach)
        self._show_button()

    def set_enter_sends(self, *, on: bool) -> None:
        """Say whether Enter sends, or Ctrl+Enter."""
        if on != self.field.enter_sends:
            self.field.enter_sends = on
            if not self._hint_is_error:
                self.set_hint("")
            self._show_button()

    def set_hint(self, text: str, *, is_error: bool = False) -> None:
        """Show a line below the field; empty shows how to send."""
        self._hint_text, self._hint_is_error = text, is_error
        self._hint.setText(text or self._usual_hint())
        self._notice_line.setVisible(bool(self._notice))
        self._hint.setVisible(bool(text) or not self._notice or self._is_streaming)
        self._hint.setProperty("isError", is_error)
        self._hint.style().polish(self._hint)

    def _usual_hint(self) -> str:
        if self._edited is not None:
            return self._editing_hint(self._edited)
        if self._is_streaming and self._may_write and self.has_content:
            if self.field.enter_sends:
                return self.tr("Enter queues it for after this reply, Esc stops the reply")
            return self.tr("Ctrl+Enter queues it for after this reply, Esc stops the reply")
        if self._is_streaming:
            return self.tr("Esc stops the reply")
        if not self._may_write:
            return ""
        if self.field.enter_sends:
            return self.tr("Enter sends, Shift+Enter starts a new line")
        return self.tr("Ctrl+Enter sends, Enter starts a new line")

    def _editing_hint(self, edited: Edited) -> str:
        if edited is Edited.SENT:
            if self.field.enter_sends:
                return self.tr("Enter sends the changed message, Esc leaves it as it was")
            return self.tr("Ctrl+Enter sends the changed message, Esc leaves it as it was")
        if self.field.enter_sends:
            return self.tr("Enter saves the change, Esc leaves the message as it was")
        return self.tr("Ctrl+Enter saves the change, Esc leaves the message as it was")

    @Slot()
    def submit(self) -> None:
        """Ask to send or queue what stands in the field, to save it as a change, or to do it if it is a command."""
        if not self._may_submit():
            return
        if self.is_editing:
            self._ask(self.save_requested.emit)
        elif (command := self._find_command()) is not None:
            self.command_entered.emit(command)
        else:
            self._ask(self.send_requested.emit)

    @Slot(object)
    def submit_at(self, moment: Moment) -> None:
        """Ask to send what stands in the field at that moment, whatever Enter would do."""
        if self._may_submit() and not self.is_editing:
            self._ask(lambda text: self.queue_requested.emit(text, moment))

    def _may_submit(self) -> bool:
        return self._may_write and not self._is_busy and self.has_content

    def _ask(self, ask: Callable[[str], None]) -> None:
        if self.tray.is_reading:
            self._was_too_early = True
            self.set_hint(self.tr("A file is still being read. Send again in a moment."))
        else:
            ask(self.text())

    @Slot()
    def _text_changed(self) -> None:
        self._show_button()
        if self._completion is not None or self.text().startswith("/"):
            self._completing().look()
        self.text_changed.emit()

    def show_commands(self) -> None:
        """List the commands that can be typed."""
        self.field.setFocus()
        self._completing().show_all()

    def _completing(self) -> CommandCompletion:
        from app.ui.chat.command_completion import CommandCompletion

        self._completion = self._completion or CommandCompletion(self.field, self._frame)
        return self._completion

    def _find_command(self) -> TypedCommand | None:
        text = self.text()
        if not text.startswith("/"):
            return None
        from app.ui.chat.slash_commands import find_command

        return find_command(text)

    @Slot()
    def _files_changed(self) -> None:
        self.order_stops()
        if self._was_too_early and not self.tray.is_reading:
            self._was_too_early = False
            if not self._hint_is_error:
                self.set_hint("")
        self._show_button()

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at, in order: as it is seen, from the top."""
        line = self._editing_line
        changing = [line.save, line.cancel] if line is not None else []
        buttons = [self.folder_button, self._attach_button, *self.buttons.stops()]
        return [*changing, self.folder_chip, *self.tray.stops(), self.field, *buttons]

    def order_stops(self) -> None:
        """Let the Tab key go from one to the next."""
        for before, stop in pairwise(self.stops()):
            QWidget.setTabOrder(before, stop)

    @Slot(bool)
    def _show_focus(self, has_focus: bool) -> None:  # noqa: FBT001 - a Qt slot
        self._frame.setProperty("hasFocus", has_focus)
        self._frame.style().polish(self._frame)

    @property
    def has_content(self) -> bool:
        """Whether there is anything to send: text, files, or both."""
        return bool(self.tray.chips) or not is_blank(self.text())

    def _show_button(self) -> None:
        has_content = self.has_content
        self.buttons.show_for(
            is_streaming=self._is_streaming,
            is_editing=self.is_editing,
            saves=self._edited is Edited.QUEUED,
            may_send=self._may_write and has_content,
            send_keys=self.tr("Enter") if self.field.enter_sends else self.tr("Ctrl+Enter"),
        )
        if self._editing_line is not None:
            self._editing_line.save.setEnabled(has_content and not self._is_busy)
        self._attach_button.setEnabled(self._may_write)
        if has_content != self._had_content:
            self._had_content = has_content
            if not self._hint_text:
                self.set_hint("")
            self.content_changed.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and self._leaves_edit(event):
            # Or else Escape would stop the reply.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._leaves_edit(event):
            self.edit_cancelled.emit()
            return
        super().keyPressEvent(event)

    @Slot()
    def _want_last(self) -> None:
        if not self.is_editing and not self.tray.chips and not self.tray.is_reading and not self.field.isReadOnly():
            self.last_wanted.emit()

    def _leaves_edit(self, event: QEvent) -> bool:
        return self.is_editing and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.field.updateGeometry()
