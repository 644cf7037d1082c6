"""Network: the proxy, and certificates that are trusted beside the system's."""

from PySide6.QtWidgets import QFileDialog, QPushButton

from app.settings.checks import proxy_problem
from app.settings.schema import Settings
from app.ui.settings.certificates import check_certificates
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import CommitField, SettingsPage, choice_combo


class NetworkPage(SettingsPage):
    """How providers are reached."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Network")
        self._wants_own = False
        self.proxy = choice_combo(
            self.tr("Proxy"),
            [
                (self.tr("As the system"), "system"),
                (self.tr("None"), "none"),
                (self.tr("Own address"), "custom"),
            ],
            self._choose_proxy,
        )
        self.add_row(
            self.tr("Proxy"),
            self.proxy,
            note=self.tr("Servers on this computer are always asked directly."),
            words=self.tr("socks http tunnel"),
        )
        self.address = CommitField(self.tr("Address of the proxy"), placeholder="http://proxy.example.org:8080")
        self.address.committed.connect(self._save_address)
        self.address_row = self.add_row(self.tr("Address of the proxy"), self.address)
        self.ca_choose = QPushButton(self.tr("Choose a file…"))
        self.ca_choose.setAccessibleName(self.tr("Choose a file of certificates"))
        self.ca_choose.clicked.connect(self._choose_file)
        self.ca_remove = QPushButton(self.tr("Remove"))
        self.ca_remove.setAccessibleName(self.tr("Remove the file of certificates"))
        self.ca_remove.clicked.connect(lambda: self.choices.change(change_part("network", ca_file="")))
        self.ca_row = self.add_row(
            self.tr("More certificates to trust"),
            FlowRow(self.ca_choose, self.ca_remove),
            words=self.tr("CA file PEM company TLS SSL"),
        )

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        network = settings.network
        if is_forced or not self._wants_own:
            self._wants_own = False
            self.proxy.choose(network.proxy)
        self.address.show_text(network.proxy_url, is_forced=is_forced)
        self._show_address_row()
        self.ca_remove.setVisible(bool(network.ca_file))
        self.ca_row.set_note(
            network.ca_file
            or self.tr("A PEM file, as companies give it out. The system's certificates are trusted all the same.")
        )

    def _show_address_row(self) -> None:
        is_own = self.proxy.currentData() == "custom"
        self.address_row.setVisible(is_own)
        note = self.tr("http, https or socks5, with host and port.")
        self.address_row.set_note(proxy_problem(self.address.text()) if is_own and self.address.text() else note)

    def _choose_proxy(self, mode: object) -> None:
        if mode == "custom" and proxy_problem(self.choices.settings.network.proxy_url):
            # Not before there is an address.
            self._wants_own = True
            self._show_address_row()
            self.address.setFocus()
            return
        self._wants_own = False
        self.choices.change(change_part("network", proxy=mode))

    def _save_address(self, text: str) -> None:
        if proxy_problem(text.strip()):
            self._show_address_row()
            return
        self._wants_own = False
        self.choices.change(change_part("network", proxy="custom", proxy_url=text.strip()))

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Choose a file of certificates"))
        dialog.setNameFilters([self.tr("Certificates (*.pem *.crt *.cer)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self.take_file)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take_file(self, path: str) -> None:
        """Use a file of certificates, if it is one."""
        self.choices.ask(
            lambda: self.choices.bridge.run_aside(lambda: check_certificates(path)),
            lambda problem: self._use_file(path, problem),
            owner=self,
            name="read certificates",
        )

    def _use_file(self, path: str, problem: str) -> None:
        if problem:
            self.choices.said.emit(problem)
        else:
            self.choices.change(change_part("network", ca_file=path))
