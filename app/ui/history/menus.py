"""The menus of items and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu

from app.domain.windows import HistoryItem, WindowInfo
from app.ui.history.commands import HistoryCommands
from app.ui.history.wording import window_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain.exports import ExportKind


def fill_item_menu(
    menu: QMenu, commands: HistoryCommands, session: str, item: HistoryItem, *, go: Callable[[], None]
) -> None:
    """Offer what can be done with an item; `go` shows it in the chat."""
    menu.addAction(_tr("Show in chat")).triggered.connect(go)
    menu.addSeparator()
    menu.addAction(_tr("Copy")).triggered.connect(lambda: commands.copy(session, item))
    menu.addAction(_tr("Quote in your message")).triggered.connect(lambda: commands.quote(session, item))
    menu.addSeparator()
    menu.addAction(_tr("Branch a new chat from here")).triggered.connect(lambda: commands.branch(session, item))


def fill_window_menu(
    menu: QMenu, commands: HistoryCommands, session: str, window: WindowInfo, *, read: Callable[[], None]
) -> None:
    """Offer what can be done with a window; `read` shows its items as one text."""
    menu.addAction(_tr("Read {window} as one text").format(window=window_name(window))).triggered.connect(read)
    menu.addSeparator()
    kinds: list[tuple[str, ExportKind]] = [(_tr("Export as Markdown…"), "markdown"), (_tr("Export as JSON…"), "json")]
    for words, kind in kinds:
        export = menu.addAction(words)
        export.triggered.connect(lambda _checked=False, kind=kind: commands.export(session, window, kind))
    menu.addSeparator()
    branch = menu.addAction(_tr("Branch a new chat from its end"))
    branch.triggered.connect(lambda: commands.branch_from_end(session, window))


def _tr(text: str) -> str:
    return QCoreApplication.translate("History", text)
