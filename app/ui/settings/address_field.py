"""Where a provider is reached: takes what people paste and says at once what will be asked."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.settings.addresses import AddressProblem, read_address, text_of
from app.settings.schema import Dialect
from app.ui.settings.page import CommitField, plain_label


class AddressField(QWidget):
    """A line for host, host/v1 or a whole address, and the address that comes of it."""

    committed = Signal(str)
    """The person has finished an address that can be used: what goes into `Endpoint.base_url`."""
    edited = Signal()

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect: Dialect = dialect
        self._base_url = ""
        self.field = CommitField(self.tr("Address"), placeholder="localhost:8080")
        self.field.textChanged.connect(self._look)
        self.field.committed.connect(self._commit)
        self.final = plain_label(name="mutedText")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.field)
        layout.addWidget(self.final)
        self.setFocusProxy(self.field)
        self._look()

    @property
    def base_url(self) -> str:
        """What goes into `Endpoint.base_url`; empty while the address can't be used."""
        return self._base_url

    def set_dialect(self, dialect: Dialect) -> None:
        """Say how the address is spoken to."""
        self._dialect = dialect
        self._look()

    def show_address(self, base_url: str, *, is_forced: bool) -> None:
        """Show the address that holds."""
        self.field.show_text(text_of(base_url, self._dialect) if base_url else "", is_forced=is_forced)

    def _look(self) -> None:
        text = self.field.text().strip()
        read = read_address(text, self._dialect) if text else None
        is_error = isinstance(read, AddressProblem)
        self._base_url = ""
        if read is None:
            line = self.tr("Host, host/v1 or the whole address.")
        elif isinstance(read, AddressProblem):
            line = read.text
        else:
            self._base_url = read.base_url
            line = self.tr("Asks {address}").format(address=read.final_url)
            if read.warning:
                line = f"{line}\n{read.warning}"
        self.final.setText(line)
        self.final.setProperty("isError", is_error)
        self.final.style().polish(self.final)
        self.field.setAccessibleDescription(line)
        self.edited.emit()

    def _commit(self) -> None:
        if self._base_url:
            self.committed.emit(self._base_url)
