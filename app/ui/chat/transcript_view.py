"""The transcript: a virtual list painted from cached documents, one row a block of Markdown.

It shows `Item`s and says what the reader did. It opens no links, loads nothing and knows no session.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QStyle, QToolTip, QWidget

from app.ui.chat import clipboard
from app.ui.chat.accessible import AccessibleView, announce, register
from app.ui.chat.attendance import Attendance
from app.ui.chat.flow import Flow
from app.ui.chat.frames import FrameClock
from app.ui.chat.gestures import Gestures
from app.ui.chat.hit_test import HitTest
from app.ui.chat.items import Item, SectionKind, Speaker
from app.ui.chat.jump_button import JumpButton
from app.ui.chat.painting import paint_screen
from app.ui.chat.rows import Rows
from app.ui.chat.selection import Selection, item_text, selected_text
from app.ui.chat.style import make_style, scroll_bar_sheet
from app.ui.chat.target_focus import TargetFocus
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.chat.transcript_model import Node, RowKind, TranscriptModel
from app.ui.theme import Theme

FRAME_MS: Final = 33
_MARGIN: Final = 24
_WAIT_MS: Final = 400
_COPIED_MS: Final = 1_500
_MAX_ADDRESS_CHARS: Final = 300


class TranscriptView(AccessibleView):
    """A chat's items, newest at the end."""

    older_wanted = Signal()
    """The reader nears the top and there is more above; once until items come."""
    action_triggered = Signal(str, object)
    """Item id, `ItemAction`."""
    link_activated = Signal(str)
    unseen_changed = Signal(int)
    """How many items arrived or grew below while the reader is not at the end."""
    at_end_changed = Signal(bool)
    reply_announced = Signal(str)
    """What a screen reader is told when a reply ends."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        register()
        self.selection = Selection()
        self._theme = theme
        self._model = TranscriptModel()
        self._rows = Rows(self._model, make_style(theme, self.font()))
        self._flow = Flow(self._model, self._rows.measure, margin=_MARGIN)
        self.on_screen = HitTest(self._model, self._rows, self._flow)
        self._gestures = Gestures(self, self.on_screen, self)
        self._frames = FrameClock(self._show_arrivals, self)
        self._focus = TargetFocus(self.on_screen)
        self._has_ring = False
        self._attendance = Attendance(self._flow, self)
        self._followed = True
        self._is_syncing = False
        self._must_sync_again = False
        self.jump_button = JumpButton(self)
        self.jump_button.clicked.connect(self.scroll_to_end)
        self._copied_timer = self._single_shot(self._forget_copied)
        self._wait_timer = QTimer(self)
        self._wait_timer.setInterval(_WAIT_MS)
        self._wait_timer.timeout.connect(self._step_wait)
        self._build()

    # --- what is shown

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of `theme` from now on; nothing moves."""
        self._theme = theme
        self._rows.set_style(make_style(theme, self.font()))
        self.jump_button.set_theme(theme)
        self.verticalScrollBar().setStyleSheet(scroll_bar_sheet(theme))
        self._sync()

    def set_items(self, items: Sequence[Item], *, more_above: bool) -> None:
        """Show `items` and nothing else, at their end; `more_above` says that there are older ones."""
        self._model.set_items(items)
        self._rows.forget()
        self._flow.forget()
        self.selection.clear()
        self._focus.clear()
        self._attendance.begin(more_above=more_above)
        self._sync()

    def prepend_items(self, items: Sequence[Item], *, more_above: bool) -> None:
        """Add older items above; what is on screen stays where it is."""
        self._model.prepend(items)
        self._attendance.expect_older(more=more_above)
        self._sync()

    def append_item(self, item: Item) -> None:
        """Add a newer item below."""
        if item.id in self._model:
            self.update_item(item)
            return
        self._model.append(item)
        self._attendance.note(item.id)
        self._sync()

    def update_item(self, item: Item) -> None:
        """Replace the item of that id. Blocks that stay the same are not laid out again; the selection stays."""
        was = self._model.node(item.id)
        if was is None:
            return
        was_streaming = was.item.streaming
        self._model.update(item)
        self._attendance.note(item.id)
        self._sync()
        if was_streaming and not item.streaming and item.speaker is Speaker.ASSISTANT:
            self._announce_reply(was)

    def remove_item(self, item_id: str) -> None:
        """Take the item of that id out."""
        if self._model.remove(item_id) is not None:
            self._attendance.forget(item_id)
            self._sync()

    def append_delta(self, item_id: str, kind: SectionKind, text: str) -> None:
        """Add streamed text to an item; it is shown with the next frame."""
        if self._model.append_delta(item_id, kind, text) is not None:
            self._attendance.note(item_id)
            self._frames.ask()

    # --- where the reader is

    def scroll_to_end(self) -> None:
        """Go to the end and follow it."""
        self._flow.scroll_to_end()
        self._sync()

    def is_at_end(self) -> bool:
        """Return whether the last words are on screen."""
        return self._flow.is_at_end

    def scroll_to_item(self, item_id: str) -> bool:
        """Put the item of that id at the top; return whether it is there."""
        node = self._model.node(item_id)
        if node is not None:
            self._flow.reveal(node, 0)
            self._sync()
        return node is not None

    def item_at(self, pos: QPoint) -> str | None:
        """Return the id of the item at a point of the view."""
        placed = self.on_screen.row_at(QPointF(self.viewport().mapFrom(self, pos)))
        return None if placed is None else placed.node.item.id

    # --- selection and clipboard

    def copy(self) -> None:
        """Put the selection on the clipboard, as Markdown and as HTML."""
        self._frames.finish()
        clipboard.copy_selection(self._model, self.selection, self.on_screen)

    def copy_plain(self) -> None:
        """Put the selection on the clipboard as it looks, without any markup."""
        self._frames.finish()
        clipboard.copy_plain(self._model, self.selection, self.on_screen)

    def copy_item(self, item_id: str) -> None:
        """Put an item's whole text on the clipboard."""
        node = self._model.node(item_id)
        if node is not None:
            self._frames.finish()
            clipboard.copy_node(self._model, node)

    def select_all(self) -> None:
        """Select every item."""
        self.selection.select_all(self._model)
        self.viewport().update()

    def has_selection(self) -> bool:
        """Return whether anything is selected."""
        return bool(self.selection)

    def selected_text(self) -> str:
        """Return the selection as Markdown."""
        self._frames.finish()
        return selected_text(self._model, self.selection, self.on_screen)

    # --- what gestures and keys do

    def activate(self, which: TargetId, target: Target) -> None:
        """Do what a target is there for."""
        node = self._model.node_of_order(which.item)
        if node is None:
            return
        match target.kind:
            case TargetKind.LINK:
                self.link_activated.emit(str(target.payload))
            case TargetKind.ACTION:
                self.action_triggered.emit(node.item.id, target.payload)
            case TargetKind.FOLD:
                self._flow.release()
                self._model.toggle_fold(node, which.key.section)
                self._sync()
            case TargetKind.COPY:
                clipboard.copy_code(node, which.key)
                self._rows.look.copied = which
                self._copied_timer.start(_COPIED_MS)
                self.viewport().update()

    def selection_moved(self, *, is_over: bool) -> None:
        """Show the selection; while it is being made, the text stands still."""
        if is_over:
            # A mere click does not stop a reader from following.
            self._flow.following = self._flow.is_at_end or (self._followed and not self.selection)
            clipboard.offer_selection(self._model, self.selection, self.on_screen)
        else:
            self._flow.release()
        self.viewport().update()

    def scroll_for_drag(self, point: QPointF) -> bool:
        """Scroll towards a pointer outside the window; return whether it is outside."""
        beyond = min(0.0, point.y()) + max(0.0, point.y() - self.viewport().height())
        if beyond:
            self._scroll_by(math.ceil(beyond / 3) if beyond > 0 else math.floor(beyond / 3))
            self._flow.release()
        return bool(beyond)

    # --- events

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        clip = QRectF(event.rect())
        painter.fillRect(event.rect(), self._theme.surface)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_screen(painter, self._rows, self._flow.placed, clip, self.selection)
        self._paint_ring(painter)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._sync()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._sync()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange, QEvent.Type.LanguageChange}:
            self.set_theme(self._theme)

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: ARG002
        if self._is_syncing:
            return
        value = self.verticalScrollBar().value()
        moved = value - self._flow.value
        if abs(moved) <= 2 * self._flow.height:
            self._flow.scroll_by(moved)
        else:
            self._flow.scroll_to(value)
        self._sync()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels = event.pixelDelta()
        if pixels.isNull():
            line = self._rows.style.line_height
            pixels = QPoint(event.angleDelta().x() * line * 3 // 120, event.angleDelta().y() * line * 3 // 120)
        across = pixels.x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not across:
            across, pixels = pixels.y(), QPoint()
        if abs(across) > abs(pixels.y()):
            cell = self.on_screen.cell_at(event.position())
            if cell is not None and cell.scroll_sideways(-across):
                self.viewport().update()
        elif pixels.y():
            self._scroll_by(-pixels.y())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._focus.clear()
            self._has_ring = False
            self._followed = self._flow.following
            self._gestures.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._gestures.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._gestures.move(event)
        else:
            self._hover(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._gestures.release(event)
            self._hover(event.position())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Leave:
            self._rows.look.hovered = None
            self.viewport().update()
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self._show_address(event)
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.make_menu(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._run_key(event):
            event.ignore()

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001
        """Move among the targets on screen first, then on to the next widget."""
        target = self._focus.step(forwards=next)
        self.viewport().update()
        if target is None:
            return super().focusNextPrevChild(next)
        self._bring_into_view(target.rect)
        return True

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._has_ring = event.reason() in {
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        }
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._has_ring = False
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._focus.clear()
        self.viewport().update()

    # --- for the accessible tree

    @property
    def nodes(self) -> Sequence[Node]:
        """All items in order."""
        return self._model.nodes

    def rect_of(self, node: Node) -> QRect:
        """Return where an item is, relative to the viewport; far away it is estimated."""
        return self.on_screen.rect_of(node, width=self.viewport().width())

    # --- the rest is its own affair

    def _build(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Transcript"))
        viewport = self.viewport()
        viewport.setMouseTracking(True)
        viewport.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        viewport.setCursor(Qt.CursorShape.IBeamCursor)
        self.jump_button.set_theme(self._theme)
        self.verticalScrollBar().setStyleSheet(scroll_bar_sheet(self._theme))
        self._attendance.older_wanted.connect(self.older_wanted)
        self._attendance.at_end_changed.connect(self.at_end_changed)
        self._attendance.unseen_changed.connect(self.jump_button.show_count)
        self._attendance.unseen_changed.connect(self.unseen_changed)

    def _single_shot(self, run: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(run)
        return timer

    def _sync(self) -> None:
        """Lay out what is on screen and tell everyone about it."""
        if self._is_syncing:
            self._must_sync_again = True
            return
        self._is_syncing = True
        try:
            for _ in range(3):  # a scroll bar that comes or goes changes the width
                self._must_sync_again = False
                self._lay_out()
                if not self._must_sync_again:
                    break
        finally:
            self._is_syncing = False
        self._attendance.look()
        self.jump_button.setVisible(not self._flow.is_at_end)
        self._animate()
        if self._flow.is_at_end and not self._gestures.is_selecting:
            self._flow.following = True
        if self._model.is_behind:
            self._frames.ask()
        self.viewport().update()

    def _lay_out(self) -> None:
        scale = self._rows.set_width(self.viewport().width())
        if scale is not None:
            self._model.rescale(scale)
        self._flow.height = self.viewport().height()
        self._flow.settle()
        bar = self.verticalScrollBar()
        bar.setPageStep(self._flow.height)
        bar.setSingleStep(self._rows.style.line_height)
        bar.setRange(0, max(0, self._flow.total - self._flow.height))
        bar.setValue(self._flow.value)
        self.jump_button.place(width=self.viewport().width(), bottom=self.height())

    def _animate(self) -> None:
        """Move the dots of a reply that has not begun, if they are on screen."""
        waits = any(placed.node.rows[placed.row].kind is RowKind.WAIT for placed in self._flow.placed)
        if waits and self._moves():
            if not self._wait_timer.isActive():
                self._wait_timer.start()
        else:
            self._wait_timer.stop()
            self._rows.look.wait_step = None

    def _forget_copied(self) -> None:
        self._rows.look.copied = None
        self.viewport().update()

    def _paint_ring(self, painter: QPainter) -> None:
        if self.hasFocus() and not self._focus.paint(painter, self._theme) and self._has_ring:
            painter.setPen(QPen(self._theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1))

    def _run_key(self, event: QKeyEvent) -> bool:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
            return True
        page = self._flow.height - 2 * self._rows.style.line_height
        line = 2 * self._rows.style.line_height
        distances = {Qt.Key.Key_Up: -line, Qt.Key.Key_Down: line, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
        key = Qt.Key(event.key())
        if key in distances and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._scroll_by(distances[key])
        elif key is Qt.Key.Key_Home:
            self._flow.scroll_to(0)
            self._sync()
        elif key is Qt.Key.Key_End:
            self.scroll_to_end()
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            return self._activate_focused()
        else:
            return False
        return True

    def _activate_focused(self) -> bool:
        found = self._focus.current()
        if found is not None:
            self.activate(*found)
        return found is not None

    def _moves(self) -> bool:
        return bool(self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self))

    def _step_wait(self) -> None:
        self._rows.look.wait_step = (self._rows.look.wait_step or 0) + 1
        self.viewport().update()

    def _show_arrivals(self) -> None:
        self._model.catch_up()
        self._sync()

    def _announce_reply(self, node: Node) -> None:
        words = sum(section.words for section in node.sections if section.kind == "text")
        text = self.tr("Reply finished, %1 words").replace("%1", self.locale().toString(words))
        self.reply_announced.emit(text)
        announce(self, text)

    def _scroll_by(self, pixels: int) -> None:
        self._flow.scroll_by(pixels)
        self._sync()

    def _bring_into_view(self, rect: QRectF) -> None:
        if rect.top() < 0:
            self._scroll_by(math.floor(rect.top()) - _MARGIN)
        elif rect.bottom() > self.viewport().height():
            self._scroll_by(math.ceil(rect.bottom()) - self.viewport().height() + _MARGIN)

    def _hover(self, point: QPointF) -> None:
        found = self.on_screen.target_at(point)
        which = None if found is None else found[0]
        cursor = Qt.CursorShape.ArrowCursor
        if found is not None:
            cursor = Qt.CursorShape.PointingHandCursor
        elif self.on_screen.cell_at(point) is not None:
            cursor = Qt.CursorShape.ArrowCursor if self.on_screen.bar_at(point) else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(cursor)
        if which != self._rows.look.hovered:
            self._rows.look.hovered = which
            self.viewport().update()

    def _show_address(self, event: QHelpEvent) -> None:
        found = self.on_screen.target_at(QPointF(event.pos()))
        if found is not None and found[1].kind is TargetKind.LINK:
            QToolTip.showText(event.globalPos(), str(found[1].payload)[:_MAX_ADDRESS_CHARS], self.viewport())
        else:
            QToolTip.hideText()

    def make_menu(self, pos: QPoint) -> QMenu:
        """Return the context menu of a point of the viewport: only what can be done there."""
        menu = QMenu(self)
        target = self.on_screen.target_at(QPointF(pos))
        placed = self.on_screen.row_at(QPointF(pos))
        if target is not None and target[1].kind is TargetKind.LINK:
            address = str(target[1].payload)
            menu.addAction(self.tr("Copy link address"), lambda: clipboard.copy_text(address))
        if self.has_selection():
            menu.addAction(self.tr("Copy"), self.copy)
            menu.addAction(self.tr("Copy as plain text"), self.copy_plain)
        if placed is not None and item_text(placed.node):
            item_id = placed.node.item.id
            menu.addAction(self.tr("Copy message"), lambda: self.copy_item(item_id))
        if self._model.nodes:
            menu.addAction(self.tr("Select all"), self.select_all)
        return menu
