"""Models: everything that is known of them, favourites, and what a person knows better."""

from typing import Final

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.domain.models import ModelCard
from app.settings.schema import Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_model
from app.ui.settings.model_form import AddModelRow, ModelForm
from app.ui.settings.page import SettingsPage, plain_label
from app.ui.settings.wording import abilities_text, by_provider, count_text, price_text
from app.ui.tooltip import plain_tooltip

_STAR, _NAME, _LIMIT, _PRICE, _CAN = range(5)
_REF_ROLE: Final = Qt.ItemDataRole.UserRole
_LINES: Final = 14
_LIMIT_LETTERS: Final = 26
"""Width in average letters from which on there is room for limits, ..."""
_PRICE_LETTERS: Final = 56
"""... for prices, ..."""
_CAN_LETTERS: Final = 84
"""... and for abilities; what isn't in the tree is in the form."""


class ModelsPage(SettingsPage):
    """A tree by provider, with the form of the chosen model below it."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Models")
        self._cards: dict[str, ModelCard] = {}
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Find a model"))
        self.search.setAccessibleName(self.tr("Find a model"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.tree = _ModelTree()
        self.tree.setAccessibleName(self.tr("Models"))
        self.tree.setHeaderLabels(
            ["★", self.tr("Model"), self.tr("Limit"), self.tr("Price in / out"), self.tr("Can read and do")]
        )
        self.tree.star_wanted.connect(self._toggle_star)
        self.tree.currentItemChanged.connect(self._show_current)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.search)
        column.addWidget(self.tree)
        self.nothing = plain_label(self.tr("No model fits. One that is not listed can be added below."))
        self.nothing.hide()
        column.addWidget(self.nothing)
        self.add_row(
            "",
            holder,
            note=self.tr("Limits are in tokens, prices in US dollars for a million tokens. Space marks a favourite."),
            words=self.tr("favourite star context limit price catalogue abilities"),
            is_stacked=True,
        )
        self.form = ModelForm(choices)
        self.column.addWidget(self.form)
        self.form.hide()
        self.rows += self.form.rows
        self.add_heading(self.tr("A model that is not listed"))
        self.adder = AddModelRow(choices)
        self.rows.append(self.adder)
        self.column.addWidget(self.adder)

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        self.adder.show_settings(settings)
        if is_forced:
            self.form.show_again()
        if self.isVisible():
            self.enter()

    def enter(self) -> None:
        self.choices.ask(self.choices.bridge.all_models, self._take_cards, owner=self, name="list all models")

    def select(self, ref: str) -> None:
        """Show one model."""
        item = self._item(ref)
        if item is not None:
            self.tree.setCurrentItem(item)
            self.tree.scrollToItem(item)

    def _take_cards(self, cards: tuple[ModelCard, ...]) -> None:
        chosen, top = self._current_ref(), self.tree.verticalScrollBar().value()
        closed = {item.text(0) for item in self._groups() if not item.isExpanded()}
        self._cards = {card.ref: card for card in cards}
        blocked = self.tree.blockSignals(True)
        self.tree.clear()
        for provider, group in by_provider(cards).items():
            heading = QTreeWidgetItem([provider])
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = self.tree.font()
            font.setBold(True)
            heading.setFont(_STAR, font)
            self.tree.addTopLevelItem(heading)
            heading.setFirstColumnSpanned(True)
            for card in group:
                heading.addChild(_item_of(card))
            heading.setExpanded(provider not in closed)
        self.tree.blockSignals(blocked)
        self._filter()
        wanted = self.adder.take_added(self._cards) or chosen
        item = self._item(wanted)
        if item is not None:
            self.tree.setCurrentItem(item)
            if wanted != chosen:
                self.tree.scrollToItem(item)
        if wanted == chosen:
            self.tree.verticalScrollBar().setValue(top)
        self._show_current()

    def _groups(self) -> list[QTreeWidgetItem]:
        found = [self.tree.topLevelItem(at) for at in range(self.tree.topLevelItemCount())]
        return [item for item in found if item is not None]

    def _item(self, ref: str) -> QTreeWidgetItem | None:
        items = (item for group in self._groups() for item in _children(group))
        return next((item for item in items if item.data(_NAME, _REF_ROLE) == ref), None)

    def _current_ref(self) -> str:
        item = self.tree.currentItem()
        return str(item.data(_NAME, _REF_ROLE) or "") if item is not None else ""

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        for group in self._groups():
            shown = 0
            for item in _children(group):
                text = f"{group.text(0)} {item.text(_NAME)} {item.data(_NAME, _REF_ROLE)}".casefold()
                fits = all(word in text for word in words)
                item.setHidden(not fits)
                shown += fits
            group.setHidden(not shown)
        self.nothing.setVisible(all(group.isHidden() for group in self._groups()))

    def _show_current(self) -> None:
        card = self._cards.get(self._current_ref())
        self.form.setVisible(card is not None)
        if card is not None:
            self.form.show_card(card)

    def _toggle_star(self, ref: str) -> None:
        card = self._cards.get(ref)
        if card is not None:
            self.choices.change(change_model(ref, favourite=not card.is_favourite))


class _ModelTree(QTreeWidget):
    """Space or a click on the star asks to change it; the columns that fit are shown."""

    star_wanted = Signal(str)
    """`provider/model`."""

    def __init__(self) -> None:
        super().__init__()
        self.setColumnCount(5)
        self.setUniformRowHeights(True)
        self.setRootIsDecorated(False)
        self.setIndentation(8)
        self.setAllColumnsShowFocus(True)
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * _LINES)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        for column in (_STAR, _LIMIT, _PRICE, _CAN):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        self.itemClicked.connect(self._click)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        letters = event.size().width() // self.fontMetrics().averageCharWidth()
        self.setColumnHidden(_LIMIT, letters < _LIMIT_LETTERS)
        self.setColumnHidden(_PRICE, letters < _PRICE_LETTERS)
        self.setColumnHidden(_CAN, letters < _CAN_LETTERS)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if event.key() == Qt.Key.Key_Space and item is not None:
            self._click(item, _STAR)
        else:
            super().keyPressEvent(event)

    def _click(self, item: QTreeWidgetItem, column: int) -> None:
        ref = item.data(_NAME, _REF_ROLE)
        if column == _STAR and ref:
            self.star_wanted.emit(ref)


def _item_of(card: ModelCard) -> QTreeWidgetItem:
    tr = QCoreApplication.translate
    prices = card.prices
    is_known = prices.input is not None or prices.output is not None
    price = f"{price_text(prices.input)} / {price_text(prices.output)}" if is_known else "–"
    star = "★" if card.is_favourite else "☆"
    item = QTreeWidgetItem([star, card.name, count_text(card.limit), price, abilities_text(card)])
    item.setData(_NAME, _REF_ROLE, card.ref)
    said = tr("Settings", "favourite") if card.is_favourite else tr("Settings", "no favourite")
    item.setData(_STAR, Qt.ItemDataRole.AccessibleTextRole, said)
    if card.name != card.id:
        item.setToolTip(_NAME, plain_tooltip(card.id))
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    item.setTextAlignment(_LIMIT, right)
    item.setTextAlignment(_PRICE, right)
    return item


def _children(group: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = [group.child(at) for at in range(group.childCount())]
    return [item for item in found if item is not None]
