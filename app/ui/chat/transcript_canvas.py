"""The surface a chat is painted on: it scrolls, selects and follows the end. What a click means is decided above it."""

import math
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QImage,
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
from app.ui.chat.accessible import AccessibleView, announce
from app.ui.chat.attendance import Attendance
from app.ui.chat.deeds import Deed
from app.ui.chat.flow import Flow
from app.ui.chat.frames import FrameClock
from app.ui.chat.gestures import Gestures
from app.ui.chat.hit_test import HitTest
from app.ui.chat.jump_button import JumpButton
from app.ui.chat.message_bar import number_of
from app.ui.chat.painting import paint_screen
from app.ui.chat.rows import Rows
from app.ui.chat.selection import Selection
from app.ui.chat.style import make_style
from app.ui.chat.target_focus import TargetFocus
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.chat.transcript_model import Node, RowKind, TranscriptModel
from app.ui.theme import Theme

_MARGIN: Final = 24
_WAIT_MS: Final = 400
_NOTCH: Final = 120
"""Eighths of a degree that one notch of a wheel turns."""
_MAX_ADDRESS_CHARS: Final = 300


class TranscriptCanvas(AccessibleView):
    """A model on screen; `model`, `rows` and `flow` are for those who derive from it."""

    typed = Signal(str)
    """Text that was typed here and is meant for the field that messages are written in."""
    zoom_wanted = Signal(int)
    """The wheel was turned with Ctrl held: that many steps, larger if positive."""
    thumbnails_wanted = Signal(tuple)
    """SHA-256 of pictures that are on screen for the first time."""
    latest_wanted = Signal()
    """The reader wants to be at the end, and it is not among the items."""
    selection_changed = Signal()
    """Something is selected now, or nothing is any more."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.selection = Selection()
        self.model = TranscriptModel()
        self.rows = Rows(self.model, make_style(theme, self.font()))
        self.flow = Flow(self.model, self.rows.measure, margin=_MARGIN)
        self.on_screen = HitTest(self.model, self.rows, self.flow)
        self.frames = FrameClock(self._show_arrivals, self)
        self.attendance = Attendance(self.flow, self)
        self.jump_button = JumpButton(self)
        self._gestures = Gestures(self, self.on_screen, self)
        self._focus = TargetFocus(self.on_screen)
        self._wait_timer = QTimer(self)
        self._has_ring = False
        self._followed = True
        self._had_selection = False
        self._is_syncing = False
        self._must_sync_again = False
        self._zoom_turn = 0
        self._build()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of `theme` from now on, and with its zoom; what is on screen stays there."""
        self.theme = theme
        self.rows.set_style(make_style(theme, self.font()))
        self.jump_button.set_theme(theme)
        self.sync()

    def scroll_to_end(self) -> None:
        """Go to the end and follow it, or ask for it."""
        if self.flow.has_more_below:
            self.latest_wanted.emit()
            return
        self.flow.scroll_to_end()
        self.sync()

    def activate(self, which: TargetId, target: Target) -> None:
        """Do what a target is there for."""
        raise NotImplementedError

    def copy(self) -> None:
        """Put the selection on the clipboard."""
        raise NotImplementedError

    def select_all(self) -> None:
        """Select every item."""
        self.selection.select_all(self.model)
        self.note_selection()
        self.viewport().update()

    def set_thumbnail(self, sha256: str, image: QImage) -> None:
        """Show a small square of an attached picture."""
        self.rows.files.set_thumbnail(sha256, image)
        self.viewport().update()

    def note_selection(self) -> None:
        """Tell everyone if a selection has begun or ended."""
        if bool(self.selection) is not self._had_selection:
            self._had_selection = not self._had_selection
            self.selection_changed.emit()

    def forget_pointer(self) -> None:
        """Leave what keyboard and pointer are on: the items are others now."""
        self._focus.clear()
        self._gestures.forget()
        self.rows.look.hovered = self.rows.look.copied = self.rows.look.marked = None
        self.rows.look.faded_behind = self.rows.bars.look.pointed = None

    def make_menu(self, pos: QPoint) -> QMenu:
        """Return the context menu of a point of the viewport."""
        raise NotImplementedError

    def sync(self) -> None:
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
        self.attendance.look()
        self.jump_button.setVisible(not self.flow.is_at_end)
        self._animate()
        if self.flow.is_at_end and not self._gestures.is_selecting:
            self.flow.following = True
        if self.model.is_behind:
            self.frames.ask()
        self.viewport().update()

    @property
    def nodes(self) -> Sequence[Node]:
        """All items in order."""
        return self.model.nodes

    def rect_of(self, node: Node) -> QRect:
        """Return where an item is, relative to the viewport; far away it is estimated."""
        return self.on_screen.rect_of(node, width=self.viewport().width())

    def selection_moved(self, *, is_over: bool) -> None:
        """Show the selection; while it is being made, the text stands still."""
        self.note_selection()
        if is_over:
            # A mere click does not stop a reader from following.
            self.flow.following = self.flow.is_at_end or (self._followed and not self.selection)
            clipboard.offer_selection(self.model, self.selection, self.on_screen)
        else:
            self.flow.release()
        self.viewport().update()

    def scroll_for_drag(self, point: QPointF) -> bool:
        """Scroll towards a pointer outside the window; return whether it is outside."""
        beyond = min(0.0, point.y()) + max(0.0, point.y() - self.viewport().height())
        if beyond:
            self._scroll_by(math.ceil(beyond / 3) if beyond > 0 else math.floor(beyond / 3))
            self.flow.release()
        return bool(beyond)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.rows.bars.look.focused = self._focused_bar()
        painter = QPainter(self.viewport())
        try:
            clip = QRectF(event.rect())
            painter.fillRect(event.rect(), self.theme.surface)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_screen(painter, self.rows, self.flow.placed, clip, self.selection)
            self._paint_ring(painter)
        finally:
            # A painter left open by an error would take the program down with it.
            painter.end()
        if wanted := self.rows.files.take_wanted():
            QTimer.singleShot(0, self, lambda: self.thumbnails_wanted.emit(wanted))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sync()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.sync()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange, QEvent.Type.LanguageChange}:
            self.set_theme(self.theme)

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: ARG002
        if self._is_syncing:
            return
        value = self.verticalScrollBar().value()
        moved = value - self.flow.value
        if abs(moved) <= 2 * self.flow.height:
            self.flow.scroll_by(moved)
        else:
            self.flow.scroll_to(value)
        self.sync()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._turn_zoom(event.angleDelta().y())
            event.accept()
            return
        pixels = event.pixelDelta()
        if pixels.isNull():
            line = self.rows.style.line_height
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
            self._point_at(event.position())
        event.accept()

    def _turn_zoom(self, eighths: int) -> None:
        """Ask for a step at each notch; a touchpad's many small turns add up to one."""
        if eighths * self._zoom_turn < 0:
            self._zoom_turn = 0
        self._zoom_turn += eighths
        steps = int(self._zoom_turn / _NOTCH)
        self._zoom_turn -= steps * _NOTCH
        if steps:
            self.zoom_wanted.emit(steps)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._focus.clear()
            self._has_ring = False
            self._followed = self.flow.following
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
            self.rows.look.hovered = self.rows.bars.look.pointed = None
            self.viewport().update()
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self._show_address(event)
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        pos, global_pos = event.pos(), event.globalPos()
        focused = self._focus.current()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and focused is not None:
            pos = focused[1].rect.center().toPoint()
            global_pos = self.viewport().mapToGlobal(pos)
        menu = self.make_menu(pos)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(global_pos)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._run_key(event):
            event.ignore()

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001
        """Move among the targets on screen first, then on to the next widget; a screen reader says where."""
        target = self._focus.step(forwards=next)
        self.viewport().update()
        if target is None:
            return super().focusNextPrevChild(next)
        self._bring_into_view(target.rect)
        announce(self, target.name)
        return True

    def focus_target(self, which: TargetId, target: Target) -> None:
        """Put the keyboard on a target that is on screen."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._focus.go_to(which)
        self._bring_into_view(target.rect)
        announce(self, target.name)
        self.viewport().update()

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

    def _build(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        viewport = self.viewport()
        viewport.setMouseTracking(True)
        viewport.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        viewport.setCursor(Qt.CursorShape.IBeamCursor)
        self.jump_button.clicked.connect(self.scroll_to_end)
        self.attendance.unseen_changed.connect(self.jump_button.show_count)
        self._wait_timer.setInterval(_WAIT_MS)
        self._wait_timer.timeout.connect(self._step_wait)

    def _lay_out(self) -> None:
        scale = self.rows.set_width(self.viewport().width())
        if scale is not None:
            self.model.rescale(scale)
        self.flow.height = self.viewport().height()
        self.flow.settle()
        bar = self.verticalScrollBar()
        bar.setPageStep(self.flow.height)
        bar.setSingleStep(self.rows.style.line_height)
        bar.setRange(0, max(0, self.flow.total - self.flow.height))
        bar.setValue(self.flow.value)
        self.jump_button.place(width=self.viewport().width(), bottom=self.height())

    def _animate(self) -> None:
        """Move the dots of a reply that has not begun, if they are on screen."""
        waits = any(placed.node.rows[placed.row].kind is RowKind.WAIT for placed in self.flow.placed)
        if waits and self._moves():
            if not self._wait_timer.isActive():
                self._wait_timer.start()
        else:
            self._wait_timer.stop()
            self.rows.look.wait_step = None

    def _paint_ring(self, painter: QPainter) -> None:
        if self.hasFocus() and not self._focus.paint(painter, self.theme) and self._has_ring:
            painter.setPen(QPen(self.theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1))

    def _run_key(self, event: QKeyEvent) -> bool:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
            return True
        page = self.flow.height - 2 * self.rows.style.line_height
        line = 2 * self.rows.style.line_height
        distances = {Qt.Key.Key_Up: -line, Qt.Key.Key_Down: line, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
        key = Qt.Key(event.key())
        if key in distances and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._scroll_by(distances[key])
        elif key is Qt.Key.Key_Home:
            if not event.isAutoRepeat():
                self.attendance.ask_again()
            self.flow.scroll_to(0)
            self.sync()
        elif key is Qt.Key.Key_End:
            self.scroll_to_end()
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            # A key that is held since another place must not answer a question here.
            return event.isAutoRepeat() or self._activate_focused()
        elif key in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            return self._go_sideways(event, forwards=key is Qt.Key.Key_Right)
        else:
            return self._pass_on(event)
        return True

    def _go_sideways(self, event: QKeyEvent, *, forwards: bool) -> bool:
        """Go along the buttons below a message, or with Alt to another version of it."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held == Qt.KeyboardModifier.AltModifier:
            return event.isAutoRepeat() or self._step_version(forwards=forwards)
        target = None if held else self._focus.step_in_bar(forwards=forwards)
        if target is not None:
            announce(self, target.name)
            self.viewport().update()
        return target is not None

    def _step_version(self, *, forwards: bool) -> bool:
        """Ask for another version of the message the keyboard is on; return whether there are any."""
        found = self._focus.current()
        node = None if found is None else self.model.node_of_order(found[0].item)
        if node is None:
            return False
        bar = self.model.last_step(node).order
        number = number_of(Deed.NEXT if forwards else Deed.PREVIOUS)
        step = next((each for each in self.on_screen.targets() if _is_button(each, bar, number)), None)
        if step is not None:
            self.activate(*step)
        return step is not None

    def _pass_on(self, event: QKeyEvent) -> bool:
        """Hand on what was typed; return whether it was text."""
        commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        text = event.text()
        if not text or not text.isprintable() or event.modifiers() & (commands | Qt.KeyboardModifier.MetaModifier):
            return False
        self.typed.emit(text)
        return True

    def _activate_focused(self) -> bool:
        found = self._focus.current()
        if found is not None:
            self.activate(*found)
        return found is not None

    def _moves(self) -> bool:
        return bool(self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self))

    def _step_wait(self) -> None:
        self.rows.look.wait_step = (self.rows.look.wait_step or 0) + 1
        self.viewport().update()

    def _show_arrivals(self) -> None:
        self.model.catch_up()
        self.sync()

    def _scroll_by(self, pixels: int) -> None:
        self.flow.scroll_by(pixels)
        self.sync()

    def _bring_into_view(self, rect: QRectF) -> None:
        if rect.top() < 0:
            self._scroll_by(math.floor(rect.top()) - _MARGIN)
        elif rect.bottom() > self.viewport().height():
            self._scroll_by(math.ceil(rect.bottom()) - self.viewport().height() + _MARGIN)

    def _focused_bar(self) -> int | None:
        """Return the order of the item with the line below the message that the keyboard is on."""
        found = self._focus.current() if self.hasFocus() else None
        node = None if found is None else self.model.node_of_order(found[0].item)
        return None if node is None else self.model.last_step(node).order

    def _point_at(self, point: QPointF) -> None:
        """Show what can be done with the message below the pointer."""
        placed = self.on_screen.row_at(point)
        pointed = None if placed is None else self.model.last_step(placed.node).order
        if pointed != self.rows.bars.look.pointed:
            self.rows.bars.look.pointed = pointed
            self.viewport().update()

    def _hover(self, point: QPointF) -> None:
        self._point_at(point)
        found = self.on_screen.target_at(point)
        which = None if found is None else found[0]
        cursor = Qt.CursorShape.ArrowCursor
        if found is not None:
            cursor = Qt.CursorShape.PointingHandCursor
        elif self.on_screen.cell_at(point) is not None:
            cursor = Qt.CursorShape.ArrowCursor if self.on_screen.bar_at(point) else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(cursor)
        if which != self.rows.look.hovered:
            self.rows.look.hovered = which
            self.viewport().update()

    def _show_address(self, event: QHelpEvent) -> None:
        found = self.on_screen.target_at(QPointF(event.pos()))
        if found is not None and found[1].kind is TargetKind.LINK:
            QToolTip.showText(event.globalPos(), str(found[1].payload)[:_MAX_ADDRESS_CHARS], self.viewport())
        elif found is not None and found[1].kind is TargetKind.MESSAGE:
            QToolTip.showText(event.globalPos(), found[1].name, self.viewport())
        else:
            QToolTip.hideText()


def _is_button(found: tuple[TargetId, Target], item: int, number: int) -> bool:
    which, target = found
    return target.kind is TargetKind.MESSAGE and (which.item, which.number) == (item, number)
