"""A list of models to choose one from, by provider."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel

from app.domain.models import ModelCard
from app.ui.settings.page import QuietCombo
from app.ui.settings.wording import by_provider


class ModelCombo(QuietCombo):
    """Shows one model; a chosen one that is not on offer now stays in the list."""

    chosen = Signal(str)
    """`provider/model`; empty for the first entry of `none`, or for the Practice model without it."""

    def __init__(self, name: str, *, none: str = "") -> None:
        """`none` is what to choose no model with; without it, no model is the Practice model."""
        super().__init__(name)
        self._none = none
        self._cards: tuple[ModelCard, ...] = ()
        self.activated.connect(self._choose)

    def set_cards(self, cards: tuple[ModelCard, ...], ref: str) -> None:
        """Offer these models."""
        self._cards = cards
        self.show_ref(ref)

    def show_ref(self, ref: str) -> None:
        """Show which model is chosen."""
        if self.view().isVisible():
            # Not while the person looks through the list.
            return
        model = QStandardItemModel(self)
        at = 0
        if self._none:
            model.appendRow(_entry(self._none, ""))
        for provider, cards in by_provider(self._cards).items():
            model.appendRow(self._heading(provider))
            for card in cards:
                # Practice is what an empty choice means, unless that means none.
                value = "" if card.provider == "practice" and not self._none else card.ref
                model.appendRow(_entry(card.name, value))
                if value == ref:
                    at = model.rowCount() - 1
        if ref and not at:
            text = QCoreApplication.translate("Settings", "{model} (not on offer now)")
            model.appendRow(_entry(text.format(model=ref), ref))
            at = model.rowCount() - 1
        self.setModel(model)
        self.setCurrentIndex(at)

    def _heading(self, text: str) -> QStandardItem:
        heading = QStandardItem(text)
        heading.setFlags(Qt.ItemFlag.NoItemFlags)
        font = self.font()
        font.setBold(True)
        heading.setFont(font)
        return heading

    def _choose(self, index: int) -> None:
        ref = self.itemData(index)
        if isinstance(ref, str):
            self.chosen.emit(ref)


def _entry(text: str, ref: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setData(ref, Qt.ItemDataRole.UserRole)
    return item
