"""The settings window: pages by name, a search over all of them, and what could not be saved."""

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.aio import TaskSet
from app.domain.connections import SetAside
from app.settings.schema import Settings
from app.ui.bridge import Bridge
from app.ui.settings.about import AboutPage
from app.ui.settings.agents import AgentsPage
from app.ui.settings.appearance import AppearancePage
from app.ui.settings.choices import Choices
from app.ui.settings.finding import find_rows
from app.ui.settings.general import GeneralPage
from app.ui.settings.models import ModelsPage
from app.ui.settings.network import NetworkPage
from app.ui.settings.page import CommitField, QuietCombo, SettingsPage, plain_label
from app.ui.settings.privacy import PrivacyPage
from app.ui.settings.providers import ProvidersPage
from app.ui.settings.scrolling import scrolled

_FIRST_SIZE: Final = QSize(900, 680)
_LEAST_SIZE: Final = QSize(320, 320)
_NARROW_LETTERS: Final = 84
"""Width in average letters below which the list of pages becomes one line above the page."""
_LIST_LETTERS: Final = 24
_PAGE_LETTERS: Final = 110
"""A page is not wider than this."""
_MOST_PROBLEMS: Final = 4
"""Of a broken file so many are told; the file itself tells the rest."""


class SettingsWindow(QDialog):
    """Everything a person can choose. What is changed holds at once; Esc ends a search, then closes."""

    link_activated = Signal(str)
    """A web address to be opened."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Settings"))
        self.choices = Choices(bridge, tasks, self)
        self.general = GeneralPage(self.choices)
        self.providers = ProvidersPage(self.choices)
        self.models = ModelsPage(self.choices)
        self.agents = AgentsPage(self.choices)
        self.appearance = AppearancePage(self.choices)
        self.network = NetworkPage(self.choices)
        self.privacy = PrivacyPage(self.choices)
        self.about = AboutPage(self.choices)
        self.pages: list[SettingsPage] = [
            self.general,
            self.providers,
            self.models,
            self.agents,
            self.appearance,
            self.network,
            self.privacy,
            self.about,
        ]
        self._is_loaded = False
        self._make_side()
        self._make_middle()
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(0)
        self._body.addWidget(self._side)
        self._body.addWidget(self._middle, 1)
        self._connect()
        self.setMinimumSize(_LEAST_SIZE)
        self.resize(_FIRST_SIZE.boundedTo(parent.window().size().expandedTo(_LEAST_SIZE)))
        self._lay_out()
        self.list.setCurrentRow(0)
        self.choices.read()
        self.choices.ask(bridge.set_aside, self._name_set_aside, owner=self, name="ask for broken settings")

    def open_page(self, page: SettingsPage) -> None:
        """Show a page."""
        self.search.clear()
        self.list.setCurrentRow(self.pages.index(page))

    @property
    def page(self) -> SettingsPage:
        """The page that is shown."""
        return self.pages[max(0, self.list.currentRow())]

    def scroll_area(self) -> QScrollArea:
        """The area the page that is shown is scrolled in."""
        area = self._stack.widget(self.pages.index(self.page))
        assert isinstance(area, QScrollArea)
        return area

    # Parts

    def _make_side(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Find a setting"))
        self.search.setAccessibleName(self.tr("Find a setting"))
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setObjectName("settingsPages")
        self.list.setAccessibleName(self.tr("Pages of settings"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.combo = QuietCombo(self.tr("Page of settings"))
        for page in self.pages:
            QListWidgetItem(page.title, self.list)
            self.combo.addItem(page.title)
        self._side = QWidget()
        self._side.setObjectName("settingsSide")
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QVBoxLayout(self._side)
        layout.setContentsMargins(10, 12, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self.search)
        layout.addWidget(self.combo)
        layout.addWidget(self.list, 1)

    def _make_middle(self) -> None:
        self.aside = plain_label(name="noticeLine")
        self.notice = plain_label(name="noticeLine")
        self.notice.setProperty("isError", True)
        for label in (self.aside, self.notice):
            label.hide()
        self._stack = QStackedWidget()
        for page in self.pages:
            self._stack.addWidget(scrolled(page))
        self.nothing = plain_label(name="nothingFound")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack.addWidget(self.nothing)
        self._middle = QWidget()
        self._middle.setObjectName("settingsMiddle")
        self._middle.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QVBoxLayout(self._middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.aside)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._show_page)
        self.combo.activated.connect(self.list.setCurrentRow)
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(self._go_to_first)
        self.choices.changed.connect(self._show_settings)
        self.choices.refused.connect(self._show_old_settings)
        self.choices.said.connect(self._say)
        for page in self.pages:
            page.link_wanted.connect(self.link_activated)
            page.scroll_wanted.connect(self._scroll_up)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._focus_search)

    # Settings

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        for page in self.pages:
            page.show_settings(settings, is_forced=False)
        if not self._is_loaded:
            # Nothing may be asked about before it is known what there is.
            self._is_loaded = True
            self.page.enter()

    @Slot(object)
    def _show_old_settings(self, settings: Settings) -> None:
        for page in self.pages:
            page.show_settings(settings, is_forced=True)

    @Slot(str)
    def _say(self, sentence: str) -> None:
        self.notice.setText(sentence)
        self.notice.setVisible(bool(sentence))
        if sentence:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))

    def _name_set_aside(self, aside: SetAside) -> None:
        text = self.tr(
            "Something in the file of settings could not be understood and is at its default again. The file as it "
            "was is kept as {name} in the data folder."
        )
        problems = [f"•  {problem}" for problem in aside.problems[:_MOST_PROBLEMS]]
        more = ["…"] if len(aside.problems) > _MOST_PROBLEMS else []
        self.aside.setText("\n".join([text.format(name=aside.name), *problems, *more]))
        self.aside.setVisible(bool(aside.name))

    # Pages

    @Slot(int)
    def _show_page(self, row: int) -> None:
        if row < 0:
            return
        self.combo.setCurrentIndex(row)
        self._stack.setCurrentIndex(row)
        if self._is_loaded:
            self.pages[row].enter()

    @Slot(QWidget)
    def _scroll_up(self, _widget: QWidget) -> None:
        self.scroll_area().verticalScrollBar().setValue(0)

    # Search

    @Slot()
    def _focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    @Slot(str)
    def _find(self, query: str) -> None:
        hits = find_rows(self.pages, query)
        is_searching = bool(query.strip())
        for at, page in enumerate(self.pages):
            found = hits.get(page, [])
            for row in page.shown_rows():
                row.mark(on=row in found)
            self._show_entry(at, on=not is_searching or page in hits)
        if is_searching and not hits:
            self.nothing.setText(self.tr("Nothing found for “{words}”.").format(words=query.strip()))
            self._stack.setCurrentWidget(self.nothing)
            return
        if is_searching and self.page not in hits:
            self.list.setCurrentRow(self.pages.index(next(iter(hits))))
        self._stack.setCurrentIndex(self.pages.index(self.page))
        if is_searching:
            # Rows have their place once the page is laid out.
            QTimer.singleShot(0, self, self._scroll_to_hit)

    def _show_entry(self, at: int, *, on: bool) -> None:
        item = self.list.item(at)
        if item is not None:
            item.setHidden(not on)
        view = self.combo.view()
        if hasattr(view, "setRowHidden"):
            view.setRowHidden(at, not on)

    @Slot()
    def _scroll_to_hit(self) -> None:
        row = next((row for row in self.page.shown_rows() if row.property("isHit") and row.isVisible()), None)
        if row is not None:
            self.scroll_area().ensureWidgetVisible(row, 0, 40)

    @Slot()
    def _go_to_first(self) -> None:
        """Go on in what was found."""
        if self._stack.currentWidget() is not self.nothing:
            self.page.focusNextChild()

    # The window itself

    def done(self, result: int) -> None:
        # What is being typed counts.
        focused = self.focusWidget()
        if isinstance(focused, CommitField):
            focused.commit()
        self.appearance.commit()
        self.agents.commit()
        self.choices.close()
        super().done(result)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # A dialog would press one of its buttons.
            event.accept()
            return
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._lay_out()

    def _lay_out(self) -> None:
        letter = self.fontMetrics().averageCharWidth()
        is_narrow = self.width() < letter * _NARROW_LETTERS
        direction = QBoxLayout.Direction
        self._body.setDirection(direction.TopToBottom if is_narrow else direction.LeftToRight)
        self.list.setVisible(not is_narrow)
        self.combo.setVisible(is_narrow)
        self._side.setMaximumWidth(16_777_215 if is_narrow else letter * _LIST_LETTERS)
        self._side.setMinimumWidth(0 if is_narrow else letter * _LIST_LETTERS)
        for page in self.pages:
            page.setMaximumWidth(letter * _PAGE_LETTERS)
        # Rows are as high as the style sheet says only if they are measured after it.
        self.list.scheduleDelayedItemsLayout()
