"""Every action once: its text, its keys, its menu."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QMenu, QPlainTextEdit, QTreeView, QWidget

from app.domain.approvals import Verdict
from app.ui.chat.answer_keys import ANSWER_KEYS

Keys = QKeySequence.StandardKey


@dataclass(slots=True)
class Actions:
    """The window's actions; the window connects what they do."""

    new_chat: QAction
    recently_deleted: QAction
    settings: QAction
    quit: QAction
    undo: QAction
    redo: QAction
    cut: QAction
    copy: QAction
    copy_plain: QAction
    paste: QAction
    select_all: QAction
    find: QAction
    find_next: QAction
    find_previous: QAction
    rename: QAction
    delete: QAction
    undo_delete: QAction
    choose_model: QAction
    thinking: QAction
    """Its menu is that of the levels."""
    profile: QAction
    """Its menu is that of the profiles."""
    clear_softly: QAction
    attach: QAction
    attach_folder: QAction
    ask_again: QAction
    queue: QAction
    send_queued: QAction
    stop: QAction
    resume: QAction
    edit_last: QAction
    answer_again: QAction
    branch: QAction
    allow: QAction
    allow_always: QAction
    deny: QAction
    jump_to_latest: QAction
    find_chats: QAction
    show_chats: QAction
    show_history: QAction
    show_memory: QAction
    next_pane: QAction
    zoom_in: QAction
    zoom_out: QAction
    reset_zoom: QAction
    about: QAction


def make_actions(window: QMainWindow) -> Actions:
    """Make every action and put it into the menus of `window`."""

    def action(text: str, keys: QKeySequence | Keys | str | None = None) -> QAction:
        made = QAction(text, window)
        if keys is not None:
            made.setShortcut(QKeySequence(keys))
        window.addAction(made)
        return made

    actions = Actions(
        new_chat=action(_tr("&New chat"), Keys.New),
        recently_deleted=action(_tr("Recently &deleted…")),
        settings=action(_tr("&Settings…")),
        quit=action(_tr("&Quit"), "Ctrl+Q"),
        undo=action(_tr("&Undo"), Keys.Undo),
        redo=action(_tr("&Redo"), Keys.Redo),
        cut=action(_tr("Cu&t"), Keys.Cut),
        copy=action(_tr("&Copy"), Keys.Copy),
        copy_plain=action(_tr("Copy as plain te&xt"), "Ctrl+Shift+C"),
        paste=action(_tr("&Paste"), Keys.Paste),
        select_all=action(_tr("Select &all"), Keys.SelectAll),
        find=action(_tr("&Find in chat…"), Keys.Find),
        find_next=action(_tr("Find &next")),
        find_previous=action(_tr("Find pre&vious")),
        rename=action(_tr("&Rename…"), "F2"),
        delete=action(_tr("&Delete")),
        undo_delete=action(_tr("&Undo delete"), "Ctrl+Shift+D"),
        choose_model=action(_tr("Choose &model…"), "Ctrl+L"),
        thinking=action(_tr("&Thinking")),
        profile=action(_tr("&Profile")),
        clear_softly=action(_tr("Start afres&h…")),
        attach=action(_tr("&Attach files…"), "Ctrl+Shift+A"),
        attach_folder=action(_tr("Attach a &folder…"), "Ctrl+Shift+O"),
        ask_again=action(_tr("Ask a&gain for everything")),
        queue=action(_tr("&Queue message")),
        send_queued=action(_tr("Send queued message n&ow")),
        stop=action(_tr("&Stop the reply"), "Esc"),
        resume=action(_tr("&Continue the reply")),
        edit_last=action(_tr("&Edit last message")),
        answer_again=action(_tr("Ans&wer again")),
        branch=action(_tr("&Branch from here")),
        allow=action(_tr("A&llow"), ANSWER_KEYS[Verdict.ALLOW]),
        allow_always=action(_tr("Allow alwa&ys in this chat"), ANSWER_KEYS[Verdict.ALWAYS]),
        deny=action(_tr("Do&n’t allow"), ANSWER_KEYS[Verdict.DENY]),
        jump_to_latest=action(_tr("&Jump to latest")),
        find_chats=action(_tr("Search c&hats"), "Ctrl+K"),
        show_chats=action(_tr("&List of chats"), "F9"),
        show_history=action(_tr("&History"), "Ctrl+H"),
        show_memory=action(_tr("&Memory"), "Ctrl+Shift+M"),
        next_pane=action(_tr("&Next pane"), "F6"),
        zoom_in=action(_tr("Zoom &in"), Keys.ZoomIn),
        zoom_out=action(_tr("Zoom &out"), Keys.ZoomOut),
        reset_zoom=action(_tr("&Actual size"), "Ctrl+0"),
        about=action(_tr("&About Muntin")),
    )
    actions.quit.setMenuRole(QAction.MenuRole.QuitRole)
    actions.about.setMenuRole(QAction.MenuRole.AboutRole)
    actions.settings.setMenuRole(QAction.MenuRole.PreferencesRole)
    # Few systems have keys of their own for it.
    actions.settings.setShortcuts(QKeySequence.keyBindings(Keys.Preferences) or [QKeySequence("Ctrl+,")])
    _set_find_keys(actions)
    # The keypad has an Enter of its own.
    actions.queue.setShortcuts([QKeySequence("Ctrl+Return"), QKeySequence("Ctrl+Enter")])
    actions.send_queued.setShortcuts([QKeySequence("Ctrl+Shift+Return"), QKeySequence("Ctrl+Shift+Enter")])
    for answer in (actions.allow, actions.allow_always, actions.deny):
        # A key that is held answers one question, not the next one too.
        answer.setAutoRepeat(False)
    actions.show_chats.setCheckable(True)
    actions.show_history.setCheckable(True)
    actions.show_memory.setCheckable(True)
    # The plus of many keyboards needs Shift.
    actions.zoom_in.setShortcuts([*QKeySequence.keyBindings(Keys.ZoomIn), QKeySequence("Ctrl+=")])
    _make_menus(window, actions)
    return actions


def _set_find_keys(actions: Actions) -> None:
    """Take the system's keys, and those that people know from elsewhere."""
    for action, keys, more in (
        (actions.find_next, Keys.FindNext, ("F3", "Ctrl+G")),
        (actions.find_previous, Keys.FindPrevious, ("Shift+F3", "Ctrl+Shift+G")),
    ):
        action.setShortcuts(list(dict.fromkeys([*QKeySequence.keyBindings(keys), *map(QKeySequence, more)])))


def _make_menus(window: QMainWindow, actions: Actions) -> None:
    bar = window.menuBar()
    file = bar.addMenu(_tr("&File"))
    file.addActions([actions.new_chat, actions.recently_deleted])
    file.addSeparator()
    file.addAction(actions.settings)
    file.addSeparator()
    file.addAction(actions.quit)
    edit = bar.addMenu(_tr("&Edit"))
    edit.addActions([actions.undo, actions.redo])
    edit.addSeparator()
    edit.addActions([actions.cut, actions.copy, actions.copy_plain, actions.paste])
    edit.addSeparator()
    edit.addAction(actions.select_all)
    edit.addSeparator()
    edit.addActions([actions.find, actions.find_next, actions.find_previous])
    edit.addSeparator()
    edit.addAction(actions.find_chats)
    _follow_focus(edit, actions)
    chat = bar.addMenu(_tr("&Chat"))
    chat.setToolTipsVisible(True)
    chat.addActions([actions.choose_model, actions.thinking, actions.profile, actions.clear_softly])
    chat.addSeparator()
    chat.addActions([actions.rename, actions.delete, actions.undo_delete])
    chat.addSeparator()
    chat.addActions([actions.attach, actions.attach_folder, actions.ask_again])
    chat.addActions([actions.queue, actions.send_queued])
    chat.addActions([actions.stop, actions.resume, actions.jump_to_latest])
    chat.addSeparator()
    chat.addActions([actions.edit_last, actions.answer_again, actions.branch])
    chat.addSeparator()
    chat.addActions([actions.allow, actions.allow_always, actions.deny])
    view = bar.addMenu(_tr("&View"))
    view.addActions([actions.show_chats, actions.show_history, actions.show_memory, actions.next_pane])
    view.addSeparator()
    view.addActions([actions.zoom_in, actions.zoom_out, actions.reset_zoom])
    bar.addMenu(_tr("&Help")).addAction(actions.about)


def _follow_focus(menu: QMenu, actions: Actions) -> None:
    """Let the Edit menu act on whatever has the focus and can do it."""
    names = {
        actions.undo: "undo",
        actions.redo: "redo",
        actions.cut: "cut",
        actions.copy: "copy",
        actions.copy_plain: "copy_plain",
        actions.paste: "paste",
        actions.select_all: "selectAll",
    }
    for action, name in names.items():
        action.triggered.connect(lambda _checked=False, name=name: _run_on_focus(name))

    def show_what_works() -> None:
        for action, name in names.items():
            action.setEnabled(_on_focus(name) is not None and _can_do(name))

    def enable_all() -> None:
        # The keys must work when the menu is shut.
        for action in names:
            action.setEnabled(True)

    menu.aboutToShow.connect(show_what_works)
    menu.aboutToHide.connect(enable_all)


def _run_on_focus(name: str) -> None:
    run = _on_focus(name)
    if run is not None:
        run()


def _on_focus(name: str) -> Callable[[], None] | None:
    widget: QWidget | None = QApplication.focusWidget()
    found = getattr(widget, name, None)
    if found is None and name == "selectAll":
        found = getattr(widget, "select_all", None)
    return found if callable(found) else None


def _can_do(name: str) -> bool:
    """Whether what has the focus can do this now."""
    from app.ui.chat.composer_field import ComposerField
    from app.ui.chat.transcript_view import TranscriptView

    match QApplication.focusWidget():
        case ComposerField(has_pasted_file=True) if name == "undo":
            return True
        case QPlainTextEdit() as field:
            can_do = {
                "undo": field.document().isUndoAvailable(),
                "redo": field.document().isRedoAvailable(),
                "cut": field.textCursor().hasSelection() and not field.isReadOnly(),
                "copy": field.textCursor().hasSelection(),
                "paste": field.canPaste(),
                "selectAll": not field.document().isEmpty(),
            }
            return can_do.get(name, False)
        case TranscriptView() as transcript:
            return name == "selectAll" or transcript.has_selection()
        case QLineEdit():
            return True
        case QTreeView() as entries:
            return name == "copy" and entries.currentIndex().isValid()
        case _:
            return False


def _tr(text: str) -> str:
    return QCoreApplication.translate("Actions", text)
