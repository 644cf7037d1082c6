"""Data & privacy: what lies on the disk, whom the program talks to, and the log."""

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem

from app.domain.connections import DataReport
from app.settings.addresses import is_local
from app.settings.schema import Endpoint, Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import SettingsPage, check_box
from app.ui.settings.wording import size_text

_SIZES_LINES: Final = 9


class PrivacyPage(SettingsPage):
    """Everything Muntin keeps and everybody it speaks to."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Data & privacy")
        self._report: DataReport | None = None
        self.add_row(
            self.tr("No telemetry"),
            note=self.tr(
                "Muntin sends nothing about you or your use of it to anybody. Your messages go to the provider of "
                "the model you chose, and to nobody else."
            ),
            words=self.tr("privacy tracking statistics"),
        )
        self.add_heading(self.tr("On this computer"))
        self.open_folder = QPushButton(self.tr("Open folder"))
        self.open_folder.clicked.connect(self._open_folder)
        self._folder_row = self.add_row(
            self.tr("Data folder"), FlowRow(self.open_folder), note=" ", words=self.tr("where are files stored chats")
        )
        self.sizes = QTreeWidget()
        self.sizes.setHeaderLabels([self.tr("Chat"), self.tr("Size")])
        self.sizes.setRootIsDecorated(False)
        self.sizes.setUniformRowHeights(True)
        self.sizes.headerItem().setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = self.sizes.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.sizes.setMinimumHeight(self.sizes.fontMetrics().lineSpacing() * _SIZES_LINES)
        self._sizes_row = self.add_row(
            self.tr("Size by chat"), self.sizes, note=" ", words=self.tr("disk space total deleted"), is_stacked=True
        )
        self.add_heading(self.tr("On the network"))
        self._hosts_row = self.add_row(
            self.tr("Whom Muntin talks to"), note=" ", words=self.tr("hosts servers connections addresses")
        )
        self.add_heading(self.tr("Log"))
        self.detailed = check_box(
            self.tr("On"), lambda on: self.choices.change(change_part("privacy", detailed_log=on))
        )
        self.add_row(
            self.tr("Detailed log"),
            self.detailed,
            note=self.tr(
                "Also writes down each request's address, result, size and time. Never what you write, never a key."
            ),
            words=self.tr("debug"),
        )
        self.open_log = QPushButton(self.tr("Open log folder"))
        self.open_log.clicked.connect(self._open_log_folder)
        self._log_row = self.add_row(self.tr("Log file"), FlowRow(self.open_log), note=" ")
        self._log_row.hide()

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:  # noqa: ARG002 - nothing is typed here
        self.detailed.setChecked(settings.privacy.detailed_log)
        self._hosts_row.set_note("\n".join(host_lines(settings, self)))

    def enter(self) -> None:
        self.choices.ask(self.choices.bridge.data_report, self._take_report, owner=self, name="measure the data folder")

    def _take_report(self, report: DataReport) -> None:
        self._report = report
        self._folder_row.set_note(report.folder)
        self.sizes.clear()
        for _id, title, size in report.chats:
            item = QTreeWidgetItem([title or self.tr("New chat"), size_text(size)])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.sizes.addTopLevelItem(item)
        total = self.tr("{total} in all, of which {trash} in recently deleted chats.")
        self._sizes_row.set_note(total.format(total=size_text(report.total_bytes), trash=size_text(report.trash_bytes)))
        self._log_row.setVisible(bool(report.log_file) and Path(report.log_file).exists())
        self._log_row.set_note(report.log_file)

    def _open_folder(self) -> None:
        if self._report is not None:
            self._open(self._report.folder)

    def _open_log_folder(self) -> None:
        if self._report is not None:
            self._open(str(Path(self._report.log_file).parent))

    def _open(self, folder: str) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            self.choices.said.emit(self.tr("No program could be found to show the folder {name}.").format(name=folder))


def host_lines(settings: Settings, page: PrivacyPage) -> list[str]:
    """Return each host the program may talk to and why, a line each."""
    lines = [_host_line(endpoint, page) for endpoint in settings.endpoints]
    lines.append(
        page.tr(
            "127.0.0.1:11434 and 127.0.0.1:1234 (this computer): asked, when Providers & keys is opened, whether "
            "Ollama or LM Studio is running."
        )
    )
    return [f"•  {line}" for line in lines]


def _host_line(endpoint: Endpoint, page: PrivacyPage) -> str:
    parts = urlsplit(endpoint.base_url)
    host = parts.hostname or endpoint.base_url
    port = f":{parts.port}" if parts.port else ""
    if is_local(endpoint.base_url):
        text = page.tr(
            "{host} (this computer or its network): {name}, when a chat uses one of its models, or when you add it, "
            "test it or refresh its list."
        )
    else:
        text = page.tr(
            "{host}: {name}, when a chat uses one of its models, or when you add it, test it or refresh its list."
        )
    return text.format(host=f"{host}{port}", name=endpoint.name)
