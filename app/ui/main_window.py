"""The window: connects panels, actions and the bridge, and nothing else."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QIcon, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QToolButton, QWidget

from app import APP_NAME
from app.aio import TaskSet
from app.assets import resource
from app.domain.approvals import Verdict
from app.domain.errors import KnownError
from app.domain.events import ApprovalAsked, Event, SessionEvent, SettingsChanged
from app.domain.ids import NewId
from app.ui.actions import make_actions
from app.ui.appearance import Appearance
from app.ui.bridge import Bridge
from app.ui.chat.controller import ChatController
from app.ui.chat.live import LiveReplies
from app.ui.chat.page import ChatPage
from app.ui.chats_controller import ChatsController
from app.ui.chats_model import ChatsModel
from app.ui.chats_panel import ChatsPanel
from app.ui.folder_controller import FolderController
from app.ui.levels_controller import LevelsController
from app.ui.links import open_link
from app.ui.models_controller import ModelsController
from app.ui.panes import Panes
from app.ui.profiles_controller import ProfilesController
from app.ui.side_panes import SidePanes
from app.ui.theme import tinted_icon
from app.ui.toast import Toast
from app.ui.tooltip import plain_tooltip
from app.ui.window_state import (
    decode_geometry,
    encode_geometry,
    load_window_state,
    save_window_state,
)

if TYPE_CHECKING:  # Made when it is first opened.
    from collections.abc import Callable

    from app.ui.chat.find_controller import FindController
    from app.ui.chat.slash_commands import TypedCommand
    from app.ui.chat_search import ChatSearch
    from app.ui.picker.panel import ModelPicker
    from app.ui.settings.window import SettingsWindow
    from app.ui.typed_commands import TypedCommands

ZOOM_MS: Final = 2_000
"""How long a new zoom is named."""
FIRST_SIZE: Final = (1080, 760)


class MainWindow(QMainWindow):
    """Muntin's one window. `closed` ends the program."""

    first_painted = Signal()
    closed = Signal()

    def __init__(self, bridge: Bridge, tasks: TaskSet, *, state_path: Path, new_id: NewId) -> None:
        super().__init__()
        self._bridge = bridge
        self._tasks = tasks
        self._state_path = state_path
        self._state = load_window_state(state_path)
        self._has_painted = False
        self._is_loaded = True
        self._is_closing = False
        self._live = LiveReplies()
        self.appearance = Appearance(bridge, tasks, state_path.with_name("settings.json"), self)
        theme = self.appearance.theme
        self.setWindowTitle(APP_NAME)
        self.setWindowIcon(QIcon(str(resource("icons", "muntin.svg"))))
        self.setMinimumSize(320, 360)
        self.chats_model = ChatsModel(self)
        self.models = ModelsController(bridge, tasks, self)
        self.chats = ChatsController(self.chats_model, self.models, bridge, tasks)
        self.panel = ChatsPanel(self.chats_model, theme)
        self.page = ChatPage(theme)
        self._picker: ModelPicker | None = None
        self._row_to_answer = ""
        self._settings: SettingsWindow | None = None
        self._find: FindController | None = None
        self._chat_search: ChatSearch | None = None
        self._commands: TypedCommands | None = None
        self.panes = Panes(self.panel, self.page, self._state, theme.zoom)
        self.setCentralWidget(self.panes)
        self.toast = Toast(self, lambda: self.page.height_below() if self.page.isVisible() else 0)
        self.page.content.installEventFilter(self.toast)
        self.controller = ChatController(
            self.page, bridge, self._live, tasks, model_name=self.models.name, new_id=new_id
        )
        self.sides = SidePanes(
            self.panes,
            self._state,
            self.page,
            self.controller,
            bridge,
            tasks,
            theme=lambda: self.appearance.theme,
            model_name=self.models.name,
        )
        self.levels = LevelsController(bridge, tasks, self)
        self.profiles = ProfilesController(self.page.profile_button, bridge, tasks, self)
        self.folder = FolderController(self.page.composer, bridge, tasks, self)
        self.actions_ = make_actions(self)
        self._tint_menu_sign()
        self._connect()
        self._connect_queue()
        self._connect_messages()
        self._connect_panes()
        self._connect_agents()
        self._restore_geometry()
        self._update_actions()

    # Starting and ending

    def start(self) -> None:
        """Load the list of chats and open the one that was open last."""
        self._tasks.spawn(self._use_settings(), name="use the settings")
        self._tasks.spawn(self._load(), name="load chats")
        self._tasks.spawn(self._tell_of_broken_settings(), name="tell of broken settings")
        # Made while the engine starts.
        self.page.transcript.set_items([], more_above=False)

    def raise_window(self) -> None:
        """Come to the front, for a second start of the program."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        if not self._is_closing:
            self._is_closing = True
            self._keep_window_state()
            self.appearance.save_pending()
            if self._chat_search is not None:
                self._chat_search.close()
            self.controller.save_draft()
            # A file that is still being read goes right into the draft on disk.
            self.controller.files.leave()
            self.sides.keep_unsaved()
            if self._find is not None:
                self._find.close_bar()
            if self._settings is not None:
                self._settings.close()
            self.hide()
            self.closed.emit()

    async def _load(self) -> None:
        try:
            await self.chats.load(self._state.chat)
        except KnownError as error:
            self._is_loaded = False
            self.page.composer.set_writable(on=False)
            self.page.banner.show_text(str(error), self.tr("Try again"))

    @Slot()
    def _load_again(self) -> None:
        """Try again to read the list of chats, if that is what failed."""
        if not self._is_loaded:
            self._is_loaded = True
            self.page.banner.show_text("")
            self.start()

    # Chats

    @Slot(str)
    def _show_chat(self, session: str) -> None:
        self._state.chat = session
        self.panel.select(session)
        if session:
            self.controller.open(session)
        else:
            self.controller.close()
        self.sides.show_chat(session)

    def show_message(self, session: str, row_id: str, offset: int) -> None:
        """Open a chat at one message, whose row begins `offset` bytes into the history of the chat."""
        self._show_chat_pane()
        self.controller.show_message(row_id, offset, session=session)
        if session != self.chats.open_session:
            self.chats.open(session)

    @Slot()
    def _rename_open_chat(self) -> None:
        if self.chats.open_session:
            self.panes.show_chats(on=True)
            self.panel.edit_title(self.chats.open_session)

    @Slot()
    def _delete_open_chat(self) -> None:
        if self.chats.open_session:
            self._delete_chat(self.chats.open_session)

    @Slot(str)
    def _delete_chat(self, session: str) -> None:
        self.controller.save_draft()
        self.chats.delete(session)

    @Slot()
    def _ask_to_clear_softly(self) -> None:
        from app.ui.soft_clear import SoftClear

        question = SoftClear(self, lambda aside: self.controller.reset_context(sets_notes_aside=aside))
        notes = self._bridge.has_notes(self.chats.open_session)
        self._tasks.spawn(question.offer_to_set_notes_aside(notes), name="look for notes")

    @Slot(object)
    def _run_command(self, typed: TypedCommand) -> None:
        from app.ui.typed_commands import TypedCommands

        if self._commands is None:
            self._commands = TypedCommands(
                self.actions_, self.chats, self.controller, self.page.composer, find=self.find_in_chat
            )
        self._commands.run(typed)

    @Slot(str, str)
    def _offer_undo(self, _session: str, title: str) -> None:
        text = self.tr("“{title}” is deleted.").format(title=title)
        self.toast.show_message(text, button=self.tr("Undo"), action=self.chats.undo_delete)
        self._update_actions()

    @Slot(str, object)
    def _offer_undo_of(self, text: str, undo: Callable[[], None]) -> None:
        self.toast.show_message(text, button=self.tr("Undo"), action=undo)

    @Slot()
    def _forget_undo(self) -> None:
        self.toast.hide()
        self._update_actions()

    @Slot()
    def _show_deleted(self) -> None:
        from app.ui.recently_deleted import RecentlyDeleted

        dialog = RecentlyDeleted(self._bridge, self._tasks, self)
        dialog.restore_requested.connect(self.chats.restore)
        self.chats.restored.connect(dialog.reload)
        dialog.open()

    # Find in chat

    @Slot()
    def _find_in_chat(self) -> None:
        self.find_in_chat("")

    def find_in_chat(self, text: str) -> None:
        """Show the bar, made when it is first wanted, and look for `text` if there is one."""
        from app.ui.chat.find_controller import FindController

        if self._find is None:
            self._find = FindController(self.page, self.controller, self._bridge, self._tasks, self.appearance.theme)
            self._find.closed.connect(self._leave_find)
        self._show_chat_pane()
        self._find.open_bar(text)

    def _find_further(self, direction: int) -> None:
        if self._find is None or not self._find.is_open:
            self._find_in_chat()
        if self._find is not None:
            (self._find.go_next if direction > 0 else self._find.go_previous)()

    @Slot()
    def _leave_find(self) -> None:
        """Go on reading where the search has led."""
        self.page.transcript.setFocus(Qt.FocusReason.OtherFocusReason)

    # Events

    @Slot(tuple)
    def _hear(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SettingsChanged):
                self._settings_changed()
                continue
            self.sides.hear(event)
            if not isinstance(event, SessionEvent):
                continue
            self._live.hear(event)
            self.chats.hear(event)
            if self._chat_search is not None:
                self._chat_search.hear(event)
            self.controller.hear(event)
            if isinstance(event, ApprovalAsked) and not self.isActiveWindow():
                QApplication.alert(self)

    def _settings_changed(self) -> None:
        if not self._is_closing:
            self.models.refresh()
            self._tasks.spawn(self._use_settings(), name="use the settings")

    async def _use_settings(self) -> None:
        """Be as the settings say from now on; without them, as before."""
        with contextlib.suppress(KnownError):
            settings = await self._bridge.settings()
            self.appearance.use(settings)
            self.profiles.use(settings)
            self.page.composer.set_enter_sends(on=settings.general.enter_sends)

    async def _tell_of_broken_settings(self) -> None:
        with contextlib.suppress(KnownError):
            if name := (await self._bridge.set_aside()).name:
                text = self.tr("Some settings could not be read and are as at first. The old file is kept as {name}.")
                self.toast.show_message(
                    text.format(name=name), button=self.tr("Settings…"), action=self.actions_.settings.trigger
                )

    # Models

    @Slot()
    def _choose_model(self) -> None:
        """Show the models, or put them away again."""
        if self._picker is not None and self._picker.isVisible():
            self._picker.close_up()
            return
        note = self.tr("The reply that is being written is not changed.") if self.controller.is_streaming else ""
        self._open_picker(note)

    def _open_picker(self, note: str, *, answers: str = "") -> None:
        """Show the models; with a row whoever is chosen answers that again, and the chat from then on."""
        self._row_to_answer = answers
        if not self.actions_.choose_model.isEnabled():
            return
        self._show_chat_pane()
        picker = self._picker = self._picker or self._make_picker()
        self._show_offer()
        picker.open_at(self.page.model_button, note=note)

    def _make_picker(self) -> ModelPicker:
        from app.ui.picker.panel import ModelPicker

        picker = ModelPicker(self.appearance.theme, self)
        picker.chosen.connect(self._set_model)
        picker.level_chosen.connect(self.levels.choose)
        picker.favourite_toggled.connect(lambda ref, on: self.models.set_favourite(ref, on=on))
        picker.closed.connect(self.page.composer.field.setFocus)
        picker.settings_wanted.connect(self._show_models_page)
        return picker

    @Slot(str)
    def _show_models_page(self, page: str) -> None:
        window = self.show_settings()
        window.open_page(window.providers if page == "providers" else window.models)

    @Slot()
    def _show_agents_page(self) -> None:
        window = self.show_settings()
        window.open_page(window.agents)

    @Slot(str)
    def _show_provider(self, endpoint_id: str) -> None:
        """Open the settings at one provider; at all of them if it is gone."""
        window = self.show_settings()
        window.open_page(window.providers)
        window.providers.open_endpoint(endpoint_id)

    @Slot(str)
    def _answer_with_another_model(self, row_id: str) -> None:
        """Let the person choose who gives a reply again."""
        self._open_picker(self.tr("Answers again, and from then on."), answers=row_id)

    @Slot(str)
    def _set_model(self, ref: str) -> None:
        answers, self._row_to_answer = self._row_to_answer, ""
        if answers:
            self.controller.messages.answer_with(answers, ref)
        elif self.chats.open_session and ref != self.chats.open_model():
            self.models.choose(self.chats.open_session, ref, for_new_chats=self.page.shows_empty)

    # Searching all chats

    @Slot()
    def _find_chats(self) -> None:
        self.panes.show_chats(on=True)
        self.panel.focus_search()

    @Slot(str)
    def _search_chats(self, text: str) -> None:
        if text and self._chat_search is None:
            self._chat_search = self._make_chat_search()
        if self._chat_search is not None:
            self._chat_search.search(text)

    @Slot(str)
    def _show_more_hits(self, session: str) -> None:
        """Look for what all chats are searched for in one of them."""
        if session != self.chats.open_session:
            self.chats.open(session)
        if self._chat_search is not None:
            self.find_in_chat(self._chat_search.text)

    def _make_chat_search(self) -> ChatSearch:
        from app.ui.chat_search import ChatSearch

        search = ChatSearch(self._bridge, self._tasks, self.appearance.theme, self)
        results = search.results
        results.hit_chosen.connect(self.show_message)
        results.more_chosen.connect(self._show_more_hits)
        self.panel.show_results(results, results.list, results.focus_first)
        self.panel.first_hit_wanted.connect(results.choose_first)
        self.chats.deleted.connect(lambda session, _title: search.forget(session))
        return search

    @Slot()
    def _show_models(self) -> None:
        """Show what has changed about the models."""
        self._show_title()
        if self._picker is not None:
            self._show_offer()

    def _show_offer(self) -> None:
        from app.ui.picker.entries import Offer

        if self._picker is not None:
            self._picker.show_offer(Offer(self.models.usable, self.models.known), self.chats.open_model())
            self._picker.show_levels(self.levels.levels, self.levels.current)

    # The window itself

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._has_painted:
            self._has_painted = True
            QTimer.singleShot(0, self.first_painted.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.panes.fit(self.width(), self.appearance.theme.zoom)
        self.sides.reopen()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() != QEvent.Type.ActivationChange or not self.isActiveWindow():
            return
        if not QApplication.focusWidget():
            self.page.composer.field.setFocus()
        if self.chats.open_session:
            self.chats.refresh()
        self.sides.refresh()

    def _connect(self) -> None:
        actions = self.actions_
        actions.new_chat.triggered.connect(self.chats.new)
        actions.new_chat.triggered.connect(self.panel.end_search)
        actions.recently_deleted.triggered.connect(self._show_deleted)
        actions.settings.triggered.connect(self.show_settings)
        actions.quit.triggered.connect(self.close)
        actions.rename.triggered.connect(self._rename_open_chat)
        actions.delete.triggered.connect(self._delete_open_chat)
        actions.choose_model.triggered.connect(self._choose_model)
        actions.clear_softly.triggered.connect(self._ask_to_clear_softly)
        self.page.composer.command_entered.connect(self._run_command)
        actions.attach.triggered.connect(self.controller.files.choose_files)
        actions.stop.triggered.connect(self.controller.stop)
        actions.resume.triggered.connect(self.controller.resume)
        for action, verdict in self._answers():
            action.triggered.connect(lambda _on=False, verdict=verdict: self.controller.approvals.answer_first(verdict))
        actions.jump_to_latest.triggered.connect(self.page.scroll_to_end)
        actions.zoom_in.triggered.connect(lambda: self.appearance.zoom_by(1))
        actions.zoom_out.triggered.connect(lambda: self.appearance.zoom_by(-1))
        actions.reset_zoom.triggered.connect(self.appearance.reset_zoom)
        actions.about.triggered.connect(self._show_about)
        self.panel.new_requested.connect(self.chats.new)
        self.panel.open_requested.connect(self.chats.open)
        self.panel.clicked.connect(self._show_chat_pane)
        self.panel.search_changed.connect(self._search_chats)
        self.panel.delete_requested.connect(self._delete_chat)
        self.panel.settings_requested.connect(self.show_settings)
        self.chats.open_changed.connect(self._show_chat)
        self.chats.entered.connect(self._show_chat_pane)
        self.chats.title_changed.connect(self._show_title)
        self.chats.deleted.connect(self._offer_undo)
        self.chats.restored.connect(self._forget_undo)
        self.controller.new_chat_wanted.connect(self.chats.new)
        self.controller.settings_wanted.connect(self._show_provider)
        self.controller.model_wanted.connect(self._choose_model)
        self.page.banner.button_pressed.connect(self._load_again)
        actions.undo_delete.triggered.connect(self.chats.undo_delete)
        self.chats.failed.connect(self.toast.show_message)
        self.chats.told.connect(self.toast.show_message)
        self.page.link_activated.connect(self._open_link)
        self.controller.state_changed.connect(self._update_actions)
        self.controller.failed.connect(self.toast.show_message)
        self._bridge.events_arrived.connect(self._hear)
        self.page.model_pressed.connect(self._choose_model)
        self.page.zoom_wanted.connect(self.appearance.zoom_by)
        self.models.changed.connect(self._show_models)
        self.models.failed.connect(self.toast.show_message)
        self.appearance.changed.connect(self._show_appearance)
        self.appearance.zoomed.connect(self._say_zoom)
        self.appearance.failed.connect(self.toast.show_message)

    def _connect_agents(self) -> None:
        actions, folder = self.actions_, self.folder
        actions.thinking.setMenu(self.levels.menu)
        self.levels.failed.connect(self.toast.show_message)
        actions.profile.setMenu(self.profiles.menu)
        self.profiles.failed.connect(self.toast.show_message)
        self.profiles.settings_wanted.connect(self._show_agents_page)
        actions.attach_folder.triggered.connect(folder.choose)
        actions.ask_again.triggered.connect(folder.ask_again)
        self.controller.files.folder_given.connect(folder.offer)
        folder.failed.connect(self.toast.show_message)
        folder.changed.connect(self._update_actions)

    def _connect_queue(self) -> None:
        queue = self.controller.queue
        self.actions_.queue.triggered.connect(self.page.composer.submit)
        self.actions_.send_queued.triggered.connect(queue.send_now)
        queue.counted.connect(self.chats_model.set_queued)
        queue.undo_offered.connect(self._offer_undo_of)

    def _connect_messages(self) -> None:
        actions, messages = self.actions_, self.controller.messages
        actions.edit_last.triggered.connect(messages.edit_last)
        actions.answer_again.triggered.connect(messages.answer_again)
        actions.branch.triggered.connect(messages.branch_from_end)
        messages.branched.connect(self.chats.take_in)
        messages.quoted.connect(self._quote)
        messages.other_model_wanted.connect(self._answer_with_another_model)

    def _connect_panes(self) -> None:
        actions = self.actions_
        actions.find_chats.triggered.connect(self._find_chats)
        actions.find.triggered.connect(self._find_in_chat)
        actions.find_next.triggered.connect(lambda: self._find_further(1))
        actions.find_previous.triggered.connect(lambda: self._find_further(-1))
        actions.show_chats.triggered.connect(self._toggle_chats)
        actions.show_history.triggered.connect(self.sides.toggle_history)
        actions.show_memory.triggered.connect(self.sides.toggle_memory)
        actions.next_pane.triggered.connect(self._focus_next_pane)
        self.page.panel_toggled.connect(self._toggle_chats)
        self.page.history_toggled.connect(self.sides.toggle_history)
        self.panes.changed.connect(self._tell_panes)
        sides = self.sides
        sides.message_wanted.connect(self.show_message)
        sides.quoted.connect(self._quote)
        sides.branched.connect(self.chats.take_in)
        sides.told.connect(self.toast.show_message)
        sides.undo_offered.connect(self._offer_undo_of)
        sides.put_away.connect(self.page.composer.field.setFocus)

    def _answers(self) -> list[tuple[QAction, Verdict]]:
        actions = self.actions_
        return [(actions.allow, Verdict.ALLOW), (actions.allow_always, Verdict.ALWAYS), (actions.deny, Verdict.DENY)]

    @Slot()
    def _update_actions(self) -> None:
        actions = self.actions_
        has_chat = bool(self.chats.open_session)
        actions.rename.setEnabled(has_chat)
        actions.delete.setEnabled(has_chat)
        actions.undo_delete.setEnabled(self.chats.can_undo_delete)
        actions.attach.setEnabled(self.controller.may_write)
        actions.stop.setEnabled(self.controller.is_streaming)
        actions.queue.setEnabled(self.controller.may_queue)
        actions.send_queued.setEnabled(self.controller.queue.may_send_now)
        actions.resume.setEnabled(self.controller.may_resume)
        messages = self.controller.messages
        actions.edit_last.setEnabled(messages.last_own is not None)
        actions.answer_again.setEnabled(messages.last_reply is not None)
        actions.branch.setEnabled(messages.last_message is not None)
        for action, verdict in self._answers():
            question = self.controller.approvals.question(verdict)
            action.setVisible(question is not None)
            action.setEnabled(question is not None)
            action.setToolTip(plain_tooltip(question.summary) if question is not None else "")
        refusal = self.controller.reset_refusal
        actions.clear_softly.setEnabled(not refusal)
        actions.clear_softly.setToolTip(
            refusal or self.tr("The model starts afresh; you keep everything that was said.")
        )
        may_choose = has_chat and self.controller.may_write
        actions.choose_model.setEnabled(may_choose)
        reason = self.tr("The model can't be changed: this chat can only be read here.")
        self.page.model_button.allow(on=may_choose, reason=reason)
        reason = self.tr("The profile can't be changed: this chat can only be read here.")
        self.page.profile_button.allow(on=may_choose, reason=reason)
        actions.profile.setEnabled(may_choose)
        actions.thinking.setEnabled(may_choose)
        self.folder.allow(on=may_choose)
        actions.attach_folder.setEnabled(may_choose)
        actions.ask_again.setEnabled(may_choose and self.folder.has_grants)
        has_messages = has_chat and not self.page.shows_empty
        for action in (actions.jump_to_latest, actions.find, actions.find_next, actions.find_previous):
            action.setEnabled(has_messages)

    @Slot()
    def _show_title(self) -> None:
        title, model = self.chats.open_title(), self.chats.open_model()
        self.page.set_title(title)
        self.profiles.show(self.chats.open_chat)
        self.folder.show(self.chats.open_chat)
        self._show_levels()
        self.page.model_button.show_model(
            self.models.name(model), level=self.levels.current, warning=self.models.warning(model)
        )
        if model and not model.startswith("practice/"):
            self.page.empty.show_model(self.models.name(model), self.models.provider_name(model))
        else:
            self.page.empty.show_practice()
        self.setWindowTitle(f"{title} — {APP_NAME}" if title else APP_NAME)

    def _show_levels(self) -> None:
        self.levels.show(self.chats.open_chat, self.models.levels(self.chats.open_model()))
        self.actions_.thinking.setVisible(bool(self.levels.levels))
        if self._picker is not None:
            self._picker.show_levels(self.levels.levels, self.levels.current)

    # Panes

    @Slot()
    def _toggle_chats(self) -> None:
        self.panes.show_chats(on=not self.panes.shows_chats)
        if self.panel.isVisible():
            self.panel.list.setFocus()
        else:
            self.page.composer.field.setFocus()

    @Slot(str)
    def _quote(self, text: str) -> None:
        if self.controller.may_write:
            self._show_chat_pane()
            self.page.composer.insert_text(text)
        else:
            self.toast.show_message(self.tr("Nothing can be quoted: this chat can only be read here."))

    @Slot()
    def _show_chat_pane(self) -> None:
        self.panes.show_page()
        self.page.composer.field.setFocus()

    @Slot()
    def _tell_panes(self) -> None:
        self.actions_.show_chats.setChecked(self.panes.shows_chats)
        self.actions_.show_history.setChecked(self.panes.shows_history)
        self.actions_.show_memory.setChecked(self.panes.shows_memory)

    @Slot()
    def _focus_next_pane(self) -> None:
        if self.panes.is_narrow and not self.page.isVisible():
            self._show_chat_pane()
            return
        stops: list[QWidget] = [self.panel.list, self.page.transcript, *self.page.queue_stops()]
        stops.append(self.page.composer.field)
        self.panes.focus_next([*stops, *self.sides.focus_stops(), self.toast.button])

    @Slot(str)
    def _open_link(self, url: str) -> None:
        open_link(self, url, lambda text, button, action: self.toast.show_message(text, button=button, action=action))

    @Slot()
    def show_settings(self) -> SettingsWindow:
        """Open the settings, or bring them to the front."""
        from app.ui.settings.window import SettingsWindow

        if self._settings is None:
            self._settings = SettingsWindow(self._bridge, self._tasks, self)
            self._settings.link_activated.connect(self._open_link)
            self._settings.finished.connect(self._forget_settings)
            # The keys of the zoom hold here too: this is where its figure stands.
            actions = self.actions_
            self._settings.addActions([actions.zoom_in, actions.zoom_out, actions.reset_zoom])
            self._settings.show()
        else:
            self._settings.raise_()
        self._settings.activateWindow()
        return self._settings

    @Slot()
    def _forget_settings(self) -> None:
        self._settings = None

    @Slot()
    def _show_about(self) -> None:
        window = self.show_settings()
        window.open_page(window.about)

    @Slot()
    def _show_appearance(self) -> None:
        theme = self.appearance.theme
        self._tint_menu_sign()
        self.panel.set_theme(theme)
        if self._chat_search is not None:
            self._chat_search.results.set_theme(theme)
        self.page.set_theme(theme)
        if self._find is not None:
            self._find.bar.set_theme(theme)
        if self._picker is not None:
            self._picker.set_theme(theme)
        self.sides.set_theme(theme)
        self.panes.fit(self.width(), theme.zoom)

    def _tint_menu_sign(self) -> None:
        """Let the sign of a menu bar that is too long for the window be seen on any ground."""
        sign = self.menuBar().findChild(QToolButton, "qt_menubar_ext_button")
        if sign is not None:
            sign.setIcon(tinted_icon("chevrons-right", self.appearance.theme.text))

    @Slot(int)
    def _say_zoom(self, percent: int) -> None:
        text = self.tr("Zoom {percent} %").format(percent=self.locale().toString(percent))
        self.toast.show_message(text, show_ms=ZOOM_MS)

    def _restore_geometry(self) -> None:
        self.resize(*FIRST_SIZE)
        if self._state.geometry:
            self.restoreGeometry(QByteArray(decode_geometry(self._state.geometry)))
        self.panes.share()
        self.panes.lay_out()
        self.page.composer.field.setFocus()

    def _keep_window_state(self) -> None:
        self._state.geometry = encode_geometry(bytes(self.saveGeometry().data()))
        save_window_state(self._state_path, self._state)
