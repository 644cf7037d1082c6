from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTreeWidgetItem

from app.ui.settings.edits import change_model, change_part
from app.ui.settings.model_form import ModelForm
from app.ui.settings.models import ModelsPage
from tests.fakes.farend import self_signed
from tests.ui.settings.conftest import SettingsDesk

# General


def test_ctrl_enter_can_be_what_sends(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    desk.choose(window.general.sending, data=False)
    desk.until(lambda: not desk.window.page.composer.field.enter_sends)
    window.close()
    desk.type("one")
    desk.press(Qt.Key.Key_Return)
    desk.type("two")
    assert desk.window.page.composer.text() == "one\ntwo"
    from tests.fakes.scripted import reply

    desk.provider.play(reply("ok"))
    desk.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert desk.rows()[0].text == "one\ntwo"


def test_what_sends_is_remembered(desk: SettingsDesk) -> None:
    desk.choose(desk.open_settings().general.sending, data=False)
    desk.saved(lambda disk: disk["general"]["enter_sends"] is False)
    desk.restart()
    desk.until(lambda: not desk.window.page.composer.field.enter_sends)


def test_the_model_of_new_chats_is_one_of_those_on_offer(desk: SettingsDesk) -> None:
    desk.environ["OPENAI_API_KEY"] = "sk-outside-0123456789"
    desk.restart()
    general = desk.open_settings().general

    def offered() -> list[str]:
        refs = [str(general.model.itemData(at)) for at in range(general.model.count())]
        return [ref for ref in refs if ref.startswith("openai/")]

    desk.until(lambda: bool(offered()))
    ref = offered()[0]
    desk.choose(general.model, ref)
    desk.saved(lambda disk: disk["general"]["default_model"] == ref)


# Appearance


def test_theme_and_zoom_are_saved(desk: SettingsDesk) -> None:
    page = desk.open_settings().appearance
    desk.settings.open_page(page)
    desk.choose(page.theme, "dark")
    desk.saved(lambda disk: disk["appearance"]["theme"] == "dark")
    page.zoom.setFocus()
    desk.qtbot.keyClick(page.zoom, Qt.Key.Key_Right)
    desk.qtbot.keyClick(page.zoom, Qt.Key.Key_Right)
    desk.saved(lambda disk: disk["appearance"]["zoom_percent"] == 120)
    assert page.percent.text() == "120 %"
    desk.click(page.reset)
    desk.saved(lambda disk: disk["appearance"]["zoom_percent"] == 100)
    desk.choose(page.theme, "system")
    desk.saved(lambda disk: disk["appearance"]["theme"] == "system")


# Network


def test_an_own_proxy_holds_once_its_address_can_be_used(desk: SettingsDesk) -> None:
    page = desk.open_settings().network
    desk.settings.open_page(page)
    assert not page.address_row.isVisible()
    desk.choose(page.proxy, "custom")
    assert page.address_row.isVisible()
    assert desk.on_disk().get("network", {}).get("proxy", "system") != "custom"
    desk.write(page.address, "proxy.example.org")
    assert "http://" in page.address_row.note.text()
    desk.write(page.address, "http://proxy.example.org:8080")
    desk.saved(lambda disk: disk["network"] == {**disk["network"], "proxy": "custom", "proxy_url": page.address.text()})
    desk.choose(page.proxy, "system")
    desk.saved(lambda disk: disk["network"]["proxy"] == "system")


def test_a_file_of_certificates_is_looked_into_before_it_is_used(desk: SettingsDesk, tmp_path: Path) -> None:
    page = desk.open_settings().network
    desk.settings.open_page(page)
    wrong = tmp_path / "letter.pem"
    wrong.write_text("Dear reader", "utf-8")
    page.take_file(str(wrong))
    desk.until(lambda: "no certificate" in desk.settings.notice.text())
    damaged = tmp_path / "damaged.pem"
    damaged.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "utf-8")
    page.take_file(str(damaged))
    desk.until(lambda: "damaged" in desk.settings.notice.text())
    page.take_file(str(tmp_path / "missing.pem"))
    desk.until(lambda: "can't be read" in desk.settings.notice.text())
    certificate = self_signed(tmp_path)
    if certificate is None:
        return
    right = certificate.file
    page.take_file(str(right))
    desk.saved(lambda disk: disk["network"]["ca_file"] == str(right))
    desk.until(lambda: page.ca_row.note.text() == str(right))
    desk.click(page.ca_remove)
    desk.saved(lambda disk: disk["network"]["ca_file"] == "")


# Data & privacy


class Opener(QObject):
    """What opens folders, in the desktop's place."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@pytest.fixture
def opener() -> Iterator[Opener]:
    made = Opener()
    # PySide takes text only, whatever its types say.
    QDesktopServices.setUrlHandler("file", made, "open")  # type: ignore[arg-type]
    yield made
    QDesktopServices.unsetUrlHandler("file")


def test_the_data_page_measures_the_folder_and_names_the_hosts(desk: SettingsDesk, opener: Opener) -> None:
    page = desk.open_settings().privacy
    desk.settings.open_page(page)
    desk.until(lambda: page.sizes.topLevelItemCount() == 1)
    words = "\n".join(row.note.text() for row in page.rows)
    assert str(desk.root) in words
    assert "api.anthropic.com" in words
    assert "api.openai.com" in words
    desk.click(page.open_folder)
    assert opener.opened == [str(desk.root)]


def test_the_detailed_log_is_a_choice(desk: SettingsDesk) -> None:
    page = desk.open_settings().privacy
    desk.settings.open_page(page)
    desk.click(page.detailed, QPoint(8, page.detailed.height() // 2))
    desk.saved(lambda disk: disk["privacy"]["detailed_log"] is True)
    page.detailed.setFocus()
    desk.qtbot.keyClick(page.detailed, Qt.Key.Key_Space)
    desk.saved(lambda disk: disk["privacy"]["detailed_log"] is False)


def test_the_folder_of_the_log_can_be_opened_once_there_is_one(desk: SettingsDesk, opener: Opener) -> None:
    page = desk.open_settings().privacy
    desk.settings.open_page(page)
    desk.until(lambda: page.sizes.topLevelItemCount() == 1)
    assert not page.open_log.isVisible()
    (desk.root / "logs").mkdir()
    (desk.root / "logs" / "muntin.log").write_text("started\n", "utf-8")
    desk.settings.open_page(desk.settings.about)
    desk.settings.open_page(page)
    desk.until(page.open_log.isVisible)
    desk.click(page.open_log)
    assert opener.opened == [str(desk.root / "logs")]


# Models


def _models(desk: SettingsDesk) -> ModelsPage:
    page = desk.open_settings().models
    desk.settings.open_page(page)
    desk.until(lambda: page.tree.topLevelItemCount() >= 3)
    return page


def _shown(page: ModelsPage) -> list[QTreeWidgetItem]:
    groups = [page.tree.topLevelItem(at) for at in range(page.tree.topLevelItemCount())]
    return [
        item
        for group in groups
        if group is not None and not group.isHidden()
        for at in range(group.childCount())
        if (item := group.child(at)) is not None and not item.isHidden()
    ]


def _first(page: ModelsPage, provider: str) -> str:
    return next(ref for ref in page._cards if ref.startswith(f"{provider}/"))


def _form(page: ModelsPage, ref: str) -> ModelForm:
    page.select(ref)
    assert page.form.isVisible()
    return page.form


def test_models_are_found_by_any_part_of_their_name(desk: SettingsDesk) -> None:
    page = _models(desk)
    name = page._cards[_first(page, "anthropic")].name
    desk.qtbot.keyClicks(page.search, name.lower())
    assert [item.text(1) for item in _shown(page)][:1] == [name]
    page.search.setText("no such model")
    assert _shown(page) == []


def test_space_makes_a_favourite_and_takes_it_back(desk: SettingsDesk) -> None:
    page = _models(desk)
    ref = _first(page, "anthropic")
    page.select(ref)
    desk.qtbot.keyClick(page.tree, Qt.Key.Key_Space)
    desk.saved(lambda disk: disk["models"][ref]["favourite"] is True)
    desk.until(lambda: page._cards[ref].is_favourite)
    assert page.form.favourite.isChecked()
    desk.qtbot.keyClick(page.tree, Qt.Key.Key_Space)
    desk.saved(lambda disk: ref not in disk["models"])


def test_what_a_person_knows_better_overrides_the_catalogue_until_it_is_reset(desk: SettingsDesk) -> None:
    page = _models(desk)
    ref = _first(page, "openai")
    was = page._cards[ref].limit
    form = _form(page, ref)
    assert "Muntin's catalogue" in form.origin.text()
    desk.write(form.limit, "128k")
    desk.saved(lambda disk: disk["models"][ref]["limit"] == 128_000)
    desk.write(form.prices["input_price"], "2.5")
    desk.saved(lambda disk: disk["models"][ref]["input_price"] == 2.5)
    desk.choose(form.abilities["reads_pdf"], data=False)
    desk.saved(lambda disk: disk["models"][ref]["reads_pdf"] is False)
    desk.until(lambda: page._cards[ref].limit == 128_000)
    desk.until(form.reset.isVisible)
    desk.click(form.reset)
    desk.saved(lambda disk: ref not in disk["models"])
    desk.until(lambda: page._cards[ref].limit == was)
    desk.until(lambda: form.limit.text() == "")


def test_a_figure_that_is_none_is_told_and_not_saved(desk: SettingsDesk) -> None:
    page = _models(desk)
    ref = _first(page, "openai")
    form = _form(page, ref)
    desk.write(form.limit, "plenty")
    assert form.rows[3].note.text().startswith("A number of tokens")
    desk.write(form.limit, "12")
    assert form.rows[3].note.text().startswith("A number of tokens")
    desk.write(form.limit, "32k")
    desk.saved(lambda disk: disk["models"][ref]["limit"] == 32_000)
    assert not form.rows[3].note.text().startswith("A number of tokens")


def test_a_model_can_be_added_by_its_id_and_removed(desk: SettingsDesk) -> None:
    page = _models(desk)
    desk.choose(page.adder.provider, "openai")
    desk.qtbot.keyClicks(page.adder.model_id, "my-model:7b")
    desk.click(page.adder.add)
    desk.saved(lambda disk: disk["models"]["openai/my-model:7b"]["added"] is True)
    desk.until(lambda: "openai/my-model:7b" in page._cards)
    desk.until(lambda: page.form.heading.text() == "my-model:7b")
    assert "Entered by you" in page.form.origin.text()
    desk.click(page.form.remove)
    desk.saved(lambda disk: "openai/my-model:7b" not in disk["models"])
    desk.until(lambda: "openai/my-model:7b" not in page._cards)


def test_the_practice_model_keeps_its_figures(desk: SettingsDesk) -> None:
    page = _models(desk)
    providers = {endpoint.id for endpoint in desk.settings.choices.settings.endpoints}
    built_in = next(ref for ref in page._cards if ref.partition("/")[0] not in providers)
    assert not _form(page, built_in).limit.isEnabled()


def test_a_model_of_a_provider_that_goes_is_shown_no_longer(desk: SettingsDesk) -> None:
    page = _models(desk)
    desk.settings.choices.change(change_model("openai/x", added=True))
    desk.until(lambda: "openai/x" in page._cards)
    from app.ui.settings.edits import remove_endpoint

    desk.settings.choices.change(remove_endpoint("openai"))
    desk.until(lambda: not any(ref.startswith("openai/") for ref in page._cards))
    assert "openai/x" not in desk.on_disk()["models"]


# Elsewhere


def test_a_model_that_is_not_on_offer_now_is_named(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    window.choices.change(change_part("general", default_model="openai/gone"))
    desk.until(lambda: window.general.model.currentData() == "openai/gone")
    assert "not on offer" in window.general.model.currentText()


def test_a_search_for_a_model_that_fits_nothing_says_so(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    page = window.models
    window.open_page(page)
    desk.until(lambda: page.tree.topLevelItemCount() > 0)
    desk.qtbot.keyClicks(page.search, "zzz")
    assert page.nothing.isVisible()
    page.search.clear()
    assert not page.nothing.isVisible()


def test_the_keys_of_the_zoom_hold_in_the_settings_too(desk: SettingsDesk) -> None:
    window = desk.open_settings()
    window.activateWindow()
    desk.until(window.isActiveWindow)
    desk.qtbot.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.ControlModifier)
    desk.saved(lambda disk: disk["appearance"]["zoom_percent"] == 110)
