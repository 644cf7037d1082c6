"""The transcript: a virtual list painted from cached documents, one row a block of Markdown.

It shows `Item`s and says what the reader did. It opens no links, loads nothing and knows no session.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.domain.approvals import Verdict
from app.ui.chat import clipboard
from app.ui.chat.accessible import announce, register, tell_reading_place
from app.ui.chat.deeds import Deed, Marks, Offer, Offers, menu_text, steps_of, version_text
from app.ui.chat.items import Item, SectionKind, Speaker
from app.ui.chat.message_bar import number_of
from app.ui.chat.section_text import ToolSection
from app.ui.chat.selection import Selection, item_text, selected_text
from app.ui.chat.targets import Answer, Target, TargetId, TargetKind
from app.ui.chat.tool_text import state_text, title
from app.ui.chat.transcript_canvas import TranscriptCanvas
from app.ui.chat.transcript_model import Node, RowKey
from app.ui.theme import Theme
from app.ui.tooltip import plain_tooltip

MARK_MS: Final = 4_000
"""How long an item is marked that was jumped to: nothing moves, so there must be time to see it."""
_COPIED_MS: Final = 1_500
_MOST_CALLS_SAID: Final = 3
_GROUPS: Final = (
    (Deed.COPY, Deed.COPY_PLAIN, Deed.QUOTE),
    (Deed.EDIT, Deed.ANSWER_AGAIN, Deed.ANSWER_WITH, Deed.PREVIOUS, Deed.NEXT),
    (Deed.BRANCH,),
    (Deed.RAW, Deed.WHY),
)
"""The order of the menu."""


class TranscriptView(TranscriptCanvas):
    """A chat's items, newest at the end."""

    older_wanted = Signal()
    """The reader nears the top and there is more above; once until items come."""
    newer_wanted = Signal()
    """The reader nears the end of the items and there are newer ones; once until they come."""
    action_triggered = Signal(str, object)
    """Item id, `ItemAction`."""
    answered = Signal(str, object)
    """Id of a call that asks, and the `Verdict`."""
    offer_taken = Signal(str, object)
    """Item id, and the `Offer` the person wants of those that are made for it; a refusal is to be told."""
    link_activated = Signal(str)
    unseen_changed = Signal(int)
    """How many items arrived or grew below while the reader is not at the end."""
    at_end_changed = Signal(bool)
    reply_announced = Signal(str)
    """What a screen reader is told when a reply ends."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        register()
        self.setAccessibleName(self.tr("Transcript"))
        self.attendance.older_wanted.connect(self.older_wanted)
        self.attendance.newer_wanted.connect(self.newer_wanted)
        self.attendance.at_end_changed.connect(self.at_end_changed)
        self.attendance.unseen_changed.connect(self.unseen_changed)
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.timeout.connect(self._forget_copied)
        self._mark_timer = QTimer(self)
        self._mark_timer.setSingleShot(True)
        self._mark_timer.timeout.connect(self._forget_mark)

    def set_items(self, items: Sequence[Item], *, more_above: bool, more_below: bool = False, first: str = "") -> None:
        """Show `items` and nothing else, at their end or with the item `first` at the top.

        `more_above` and `more_below` say that there are older and newer ones.
        """
        self.model.set_items(items)
        self.rows.forget()
        self.flow.forget()
        self.selection.clear()
        self.note_selection()
        self.forget_pointer()
        self.attendance.begin(more_above=more_above, more_below=more_below)
        if (node := self.model.node(first)) is not None:
            self.flow.reveal(node, 0)
        self.sync()

    def prepend_items(self, items: Sequence[Item], *, more_above: bool) -> None:
        """Add older items above; what is on screen stays where it is."""
        self.model.prepend(items)
        self.attendance.expect_older(more=more_above)
        self.sync()

    def append_items(self, items: Sequence[Item], *, more_below: bool) -> None:
        """Add newer items below those there are; what is on screen stays where it is."""
        for item in items:
            if item.id not in self.model:
                self.model.append(item)
        self.flow.release()
        self.attendance.expect_newer(more=more_below)
        self.sync()

    def note_beyond(self, item_id: str) -> None:
        """Count an item that came below those that are shown."""
        self.attendance.note(item_id)

    def append_item(self, item: Item) -> None:
        """Add a newer item below."""
        if item.id in self.model:
            self.update_item(item)
            return
        self.model.append(item)
        self.attendance.note(item.id)
        self.sync()

    def update_item(self, item: Item) -> None:
        """Replace the item of that id. Blocks that stay the same are not laid out again; the selection stays."""
        was = self.model.node(item.id)
        if was is None:
            return
        was_streaming = was.item.streaming
        if was.item.speaker is not item.speaker:
            self.rows.forget_item(was)
        self.model.update(item)
        self.attendance.note(item.id)
        self.sync()
        has_called = bool(item.sections) and item.sections[-1].kind == "tool"
        if was_streaming and not item.streaming and item.speaker is Speaker.ASSISTANT and not has_called:
            self._announce_reply(was)

    def remove_item(self, item_id: str) -> None:
        """Take the item of that id out."""
        node = self.model.remove(item_id)
        self.attendance.forget(item_id)
        if node is not None:
            self.rows.forget_item(node)
            bounds = self.selection.bounds
            if bounds is not None and bounds[0].item == bounds[1].item == node.order:
                self.selection.clear()
                self.note_selection()
            self.sync()

    def cut_items(self, item_ids: Sequence[str]) -> None:
        """Take these out, and whatever came below and is not shown yet: what is left is the end."""
        gone = {node.order for node in self._take_out(item_ids)}
        bounds = self.selection.bounds
        if bounds is not None and any(place.item in gone for place in bounds):
            self.selection.clear()
            self.note_selection()
        self._gestures.forget()
        self.attendance.keep({node.item.id for node in self.nodes})
        self.attendance.expect_newer(more=False)
        self.sync()

    def _take_out(self, item_ids: Sequence[str]) -> list[Node]:
        gone = self.model.cut(item_ids)
        for node in gone:
            self.rows.forget_item(node)
        return gone

    def append_delta(self, item_id: str, kind: SectionKind, text: str) -> None:
        """Add streamed text to an item; it is shown with the next frame."""
        if self.model.append_delta(item_id, kind, text) is not None:
            self.attendance.note(item_id)
            self.frames.ask()

    def is_at_end(self) -> bool:
        """Return whether the last words are on screen."""
        return self.flow.is_at_end

    def scroll_to_item(self, item_id: str) -> bool:
        """Put the item of that id at the top; return whether it is there."""
        node = self.model.node(item_id)
        if node is not None:
            self.flow.reveal(node, 0)
            self.sync()
        return node is not None

    def top_of_item(self, item_id: str) -> int | None:
        """Return how far below the upper edge an item begins; far away it is estimated."""
        node = self.model.node(item_id)
        return None if node is None else self.flow.top_of(node)

    def place_item(self, item_id: str, top: int) -> None:
        """Put an item that far below the upper edge, or at it if that is above."""
        node = self.model.node(item_id)
        if node is not None:
            self.flow.reveal(node, 0, below_top=max(0, min(top, self.flow.height * 3 // 4)))
            self.sync()

    def show_item(self, item_id: str) -> None:
        """Scroll an item to the top unless its begin is on screen."""
        top = self.top_of_item(item_id)
        if top is not None and not 0 <= top < self.flow.height:
            self.scroll_to_item(item_id)

    def set_offers(self, offers: Offers) -> None:
        """Ask for what can be done with a message there from now on."""
        self.rows.bars.look.offers = offers

    def show_marks(self, marks: Marks, *, refusal: str) -> None:
        """Show which messages begin one of several versions; `refusal` says why no other can be shown now."""
        look = self.rows.bars.look
        look.marks, look.refusal = marks, refusal
        self.viewport().update()

    def version_of(self, node: Node) -> str:
        """Return which of several versions begins with an item, in words; empty if none does."""
        mark = self.rows.bars.look.marks.get(node.item.id)
        return "" if mark is None else version_text(mark)

    def fade_behind(self, item_id: str | None) -> None:
        """Fade what stands below an item, or nothing."""
        node = self.model.node(item_id) if item_id is not None else None
        self.rows.look.faded_behind = None if node is None else node.order
        self.viewport().update()

    def focus_button(self, item_id: str, deed: Deed) -> None:
        """Put the keyboard on a button below a message, or on another one there, if it is on screen."""
        node = self.model.node(item_id)
        if node is None:
            return
        order = self.model.last_step(node).order
        buttons = [
            each for each in self.on_screen.targets() if each[1].kind is TargetKind.MESSAGE and each[0].item == order
        ]
        wanted = [each for each in buttons if each[0].number == number_of(deed)]
        if found := wanted or buttons:
            self.focus_target(*found[0])

    @property
    def focused_item(self) -> str:
        """Id of the message on whose buttons the keyboard is, empty if it is elsewhere."""
        found = self._focus.current() if self.hasFocus() else None
        node = None if found is None else self.model.node_of_order(found[0].item)
        return "" if node is None or found is None or found[1].kind is not TargetKind.MESSAGE else node.item.id

    def mark_item(self, item_id: str) -> None:
        """Let the reader see which item is meant, for some seconds; a screen reader says it."""
        node = self.model.node(item_id)
        if node is not None:
            self.rows.look.marked = node.order
            self._mark_timer.start(MARK_MS)
            self.viewport().update()
            tell_reading_place(self, node)

    def shows_question(self, call_id: str) -> bool:
        """Return whether the first button below the question of a call is on screen, all of it."""
        found = self._button_of(call_id)
        room = QRectF(self.viewport().rect())
        return found is not None and room.top() <= found[1].rect.top() and found[1].rect.bottom() <= room.bottom()

    def go_to_question(self, call_id: str) -> bool:
        """Put the keyboard on the first button below the question of a call; return whether that is here.

        The begin of its card is shown with it if there is room for both.
        """
        found = self._card_of(call_id)
        if found is None:
            return False
        node, head, buttons = found
        self.flow.reveal(node, head)
        self.sync()
        if not self.shows_question(call_id):
            height = self.rows.measure(node, buttons)
            self.flow.reveal(node, buttons, below_top=self.flow.height - height - self.rows.style.line_height)
            self.sync()
        if (button := self._button_of(call_id)) is not None:
            self.focus_target(*button)
        return True

    def item_at(self, pos: QPoint) -> str | None:
        """Return the id of the item at a point of the view."""
        placed = self.on_screen.row_at(QPointF(self.viewport().mapFrom(self, pos)))
        return None if placed is None else placed.node.item.id

    def copy(self) -> None:
        """Put the selection on the clipboard, as Markdown and as HTML."""
        self.frames.finish()
        clipboard.copy_selection(self.model, self.selection, self.on_screen)

    def copy_plain(self) -> None:
        """Put the selection on the clipboard as it looks, without any markup."""
        self.frames.finish()
        clipboard.copy_plain(self.model, self.selection, self.on_screen)

    def copy_item(self, item_id: str) -> None:
        """Put an item's whole text on the clipboard; of a reply all of its steps."""
        if (nodes := self._steps(item_id)) is not None:
            self.frames.finish()
            clipboard.copy_nodes(self.model, nodes)

    def copy_item_plain(self, item_id: str) -> None:
        """Put an item's whole text on the clipboard as it looks."""
        if (nodes := self._steps(item_id)) is not None:
            self.frames.finish()
            whole = Selection()
            whole.select_items(nodes[0], nodes[-1])
            clipboard.copy_plain(self.model, whole, self.on_screen)

    def text_of_item(self, item_id: str) -> str:
        """Return an item's text, of a reply that of all its steps; what is folded away is left out."""
        nodes = self._steps(item_id)
        return "" if nodes is None else "\n\n".join(filter(None, map(item_text, nodes)))

    def _steps(self, item_id: str) -> Sequence[Node] | None:
        node = self.model.node(item_id)
        if node is None:
            return None
        first, last = (self.model.index_of(each) for each in (self.model.first_step(node), self.model.last_step(node)))
        return self.nodes[first : last + 1]

    def has_selection(self) -> bool:
        """Return whether anything is selected."""
        return bool(self.selection)

    def selected_text(self) -> str:
        """Return the selection as Markdown."""
        self.frames.finish()
        return selected_text(self.model, self.selection, self.on_screen)

    def activate(self, which: TargetId, target: Target) -> None:
        """Do what a target is there for."""
        node = self.model.node_of_order(which.item)
        if node is None:
            return
        match target.kind:
            case TargetKind.LINK:
                self.link_activated.emit(str(target.payload))
            case TargetKind.ACTION:
                self.action_triggered.emit(node.item.id, target.payload)
            case TargetKind.ANSWER:
                self._leave_question(which)
                assert isinstance(target.payload, Answer)
                self.answered.emit(*target.payload)
            case TargetKind.FOLD:
                self.flow.release()
                self.model.toggle_fold(node, which.key.section)
                self.sync()
            case TargetKind.MORE:
                self.flow.release()
                self.model.show_whole(node, which.key.section)
                self.sync()
            case TargetKind.COPY:
                clipboard.copy_code(node, which.key)
                self._show_copied(which)
            case TargetKind.MESSAGE:
                assert isinstance(target.payload, Offer)
                self._take_offer_at(which, target, node, target.payload)

    def _take_offer_at(self, which: TargetId, target: Target, node: Node, offer: Offer) -> None:
        """Do what a button below a message says."""
        if offer.deed is Deed.MORE:
            menu = QMenu(self)
            self._add_message(menu, node)
            self._pop_up(menu, target.rect.bottomLeft().toPoint())
        else:
            self._take_offer(node, offer)
            if offer.deed is Deed.COPY:
                self._show_copied(which)

    def _take_offer(self, node: Node, offer: Offer) -> None:
        match offer.deed:
            case Deed.COPY:
                self.copy_item(node.item.id)
                announce(self, self.tr("Copied."))
            case Deed.COPY_PLAIN:
                self.copy_item_plain(node.item.id)
            case Deed.PREVIOUS | Deed.NEXT:
                self.offer_taken.emit(self.model.first_step(node).item.id, offer)
            case _:
                self.offer_taken.emit(node.item.id, offer)

    def _show_copied(self, which: TargetId) -> None:
        self.rows.look.copied = which
        self._copied_timer.start(_COPIED_MS)
        self.viewport().update()

    def _pop_up(self, menu: QMenu, pos: QPoint) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(pos))

    def make_menu(self, pos: QPoint) -> QMenu:
        """Return the context menu of a point of the viewport: only what can be done there."""
        menu = QMenu(self)
        target = self.on_screen.target_at(QPointF(pos))
        placed = self.on_screen.row_at(QPointF(pos))
        if target is not None and target[1].kind is TargetKind.LINK:
            which, address = target[0], str(target[1].payload)
            menu.addAction(self.tr("Open link"), lambda: self.activate(which, target[1]))
            menu.addAction(self.tr("Copy link address"), lambda: clipboard.copy_text(address))
        if self.has_selection():
            menu.addAction(self.tr("Copy"), self.copy)
            menu.addAction(self.tr("Copy as plain text"), self.copy_plain)
        if placed is not None:
            self._add_message(menu, self.model.last_step(placed.node))
        if self.model.nodes:
            if any(action.isSeparator() for action in menu.actions()):
                menu.addSeparator()
            menu.addAction(self.tr("Select all"), self.select_all)
        return menu

    def _add_message(self, menu: QMenu, node: Node) -> None:
        """Add what can be done with a message to a menu."""
        menu.setToolTipsVisible(True)
        offers = self.rows.bars.look.offers(node.item.id)
        if not offers and item_text(node):
            offers = (Offer(Deed.COPY),)
        mark = self.rows.bars.mark_of(node)
        if mark is not None and not node.item.streaming:
            offers = (*offers, *steps_of(mark, self.rows.bars.look.refusal))
        groups = [[offer for offer in offers if offer.deed in group] for group in _GROUPS]
        for at, group in enumerate(filter(None, groups)):
            if at:
                menu.addSeparator()
            for offer in group:
                action = menu.addAction(menu_text(offer.deed))
                action.triggered.connect(lambda _on=False, offer=offer: self._take_offer(node, offer))
                action.setEnabled(not offer.refusal)
                action.setToolTip(plain_tooltip(offer.refusal))

    def _card_of(self, call_id: str) -> tuple[Node, int, int] | None:
        """Return the item of a call that asks, with the rows of its card's head and of its buttons."""
        for node in reversed(self.nodes):
            for at, section in enumerate(node.sections):
                if isinstance(section, ToolSection) and section.asks and section.tool.call_id == call_id:
                    if not node.is_expanded:
                        self.model.expand(node)
                    rows = [row for row, each in enumerate(node.rows) if each.key.section == at]
                    return node, rows[0], rows[-1]
        return None

    def _button_of(self, call_id: str) -> tuple[TargetId, Target] | None:
        """Return the button that allows a call, if any of it is on screen."""
        wanted = Answer(call_id, Verdict.ALLOW)
        return next((found for found in self.on_screen.targets() if found[1].payload == wanted), None)

    def _leave_question(self, which: TargetId) -> None:
        """Have the keyboard go on from the card whose buttons go away."""
        if self._focus.current() is not None:
            self._focus.go_to(TargetId(which.item, RowKey(which.key.section, -1), 0))

    def _forget_mark(self) -> None:
        self.rows.look.marked = None
        self.viewport().update()

    def _forget_copied(self) -> None:
        self.rows.look.copied = None
        self.viewport().update()

    def _announce_reply(self, node: Node) -> None:
        words = sum(section.words for section in node.sections if section.kind == "text")
        text = self.tr("Reply finished, %1 words").replace("%1", self.locale().toString(words))
        if words == 1:
            text = self.tr("Reply finished, 1 word")
        text = "; ".join([text, *self._calls_of_reply(node)])
        self.reply_announced.emit(text)
        announce(self, text)

    def _calls_of_reply(self, node: Node) -> list[str]:
        """Return which tools a reply has called and how that ended, in all of its steps up to this one."""
        at = self.model.index_of(node)
        first = at
        while first > 0 and self.nodes[first].goes_on:
            first -= 1
        calls = [
            section.tool for step in self.nodes[first : at + 1] for section in step.sections if section.tool is not None
        ]
        said = [f"{title(tool)}: {state_text(tool)}" for tool in calls[:_MOST_CALLS_SAID]]
        if len(calls) > _MOST_CALLS_SAID:
            said.append(self.tr("more calls: %1").replace("%1", self.locale().toString(len(calls) - _MOST_CALLS_SAID)))
        return said
