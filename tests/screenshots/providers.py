"""Pictures of providers, models, files and errors, with an Ollama that is played."""

from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QPushButton, QWidget

from app.ui.settings.endpoint_form import EndpointForm
from app.ui.settings.window import SettingsWindow
from tests.benchmarks.driver import until
from tests.fakes.farend import FarEndThread, model_not_found, reply
from tests.screenshots.backdrop import make_files
from tests.screenshots.camera import NARROW, Camera

KEY: Final = "sk-ant-not-a-real-key-Qm7A"
LOW: Final = 460
"""Height of the settings where there is little to see."""
QUESTION: Final = "Does my third chapter fit what the picture and the records show?"
ANSWER: Final = """The three sources agree on the day, but not on the hour.

| source | what it says |
|---|---|
| picture | The lamp is lit and the sun stands low: evening, or early morning. |
| harbour records, p. 7 | “No vessel left the harbour before seven.” |
| your notes | The keeper leaves **at dawn**, and nobody sees the boat. |

Dawn was at 5:12 that day. Either the boat was never entered in the records, or your chapter needs a later hour. I \
would keep the dawn, and let the missing entry become part of the story."""


async def take_providers(camera: Camera, ollama: FarEndThread, folder: Path) -> None:
    """Take them in the order in which a person comes to them; `folder` is for files to attach."""
    settings = camera.window.show_settings()
    await until(lambda: "anthropic" in settings.providers.cards)
    await _take_providers_page(camera, settings)
    await _take_one_provider(camera, settings, ollama)
    await _take_models_page(camera, settings)
    settings.close()
    await _take_picker(camera)
    await _take_files(camera, ollama, folder)
    await _take_error(camera, ollama)
    await _take_dark(camera)


async def _take_providers_page(camera: Camera, settings: SettingsWindow) -> None:
    providers = settings.providers
    settings.open_page(providers)
    providers.open_endpoint("anthropic")
    key = _form(settings).key
    await until(lambda: key.place.count() > 0)
    key.field.setText(KEY)
    key.save.click()
    await until(lambda: key.sentence.text().startswith("Saved in"))
    providers.show_list()
    await until(lambda: _button(settings, "Add Ollama"))
    size = settings.size()
    settings.resize(size.width(), LOW)
    await camera.take("providers", settings)
    settings.resize(size)


async def _take_one_provider(camera: Camera, settings: SettingsWindow, ollama: FarEndThread) -> None:
    add = _button(settings, "Add Ollama")
    assert add is not None
    add.click()
    await until(lambda: settings.providers.form is not None)
    form = _form(settings)
    await until(form.refresh.isEnabled)
    await until(lambda: len(_listed(settings, "ollama")) == 3)
    ollama.play(reply("OK"))
    form.test.button.click()
    await until(lambda: "It works" in form.test.text())
    await camera.take("provider-tested", settings)
    size = settings.size()
    settings.resize(*NARROW)
    await camera.take("narrow-settings", settings)
    settings.resize(size)


async def _take_models_page(camera: Camera, settings: SettingsWindow) -> None:
    settings.open_page(settings.models)
    await until(lambda: settings.models.tree.topLevelItemCount() > 1)
    settings.models.select("anthropic/claude-sonnet-5-5")
    await until(settings.models.form.isVisible)
    await camera.take("models", settings)


async def _take_picker(camera: Camera) -> None:
    picker = camera.open_picker()
    picker.favourite_toggled.emit("anthropic/claude-sonnet-5-5", True)
    picker.favourite_toggled.emit("ollama/gemma3:12b", True)
    await until(lambda: sum("gemma3:12b" in entry.text for entry in picker.model.entries) > 0)
    await camera.take("model-picker")
    picker.close_up()


async def _take_files(camera: Camera, ollama: FarEndThread, folder: Path) -> None:
    window = camera.window
    await camera.new_chat()
    await camera.choose_model("ollama/gemma3:12b")
    picture, pdf, notes = make_files(folder)
    window.controller.files.attach_files([picture, pdf, notes])
    await until(lambda: len(window.controller.files.parts) == 3)
    ollama.play(reply(ANSWER))
    await camera.say(QUESTION)
    window.controller.files.attach_files([picture, notes])
    await until(lambda: len(window.controller.files.parts) == 2)
    window.page.composer.set_text("And if the boat left from the other side of the island?")
    await camera.choose_model("ollama/qwen3:8b")
    await camera.take("attachments")


async def _take_error(camera: Camera, ollama: FarEndThread) -> None:
    await camera.new_chat()
    await camera.choose_model("ollama/llama3.2:3b")
    ollama.play(model_not_found("llama3.2:3b", flavour="ollama"))
    await camera.say("Suggest ten titles for a story set on an island.")
    await camera.take("error")


async def _take_dark(camera: Camera) -> None:
    settings = camera.window.show_settings()
    settings.open_page(settings.appearance)
    await until(lambda: settings.choices.settings.models)
    appearance = settings.appearance
    appearance.theme.setCurrentIndex(appearance.theme.findData("dark"))
    appearance.theme.activated.emit(appearance.theme.currentIndex())
    await until(lambda: settings.choices.settings.appearance.theme == "dark")
    settings.resize(settings.width(), LOW)
    await camera.take("settings-dark", settings)
    settings.close()


def _form(settings: SettingsWindow) -> EndpointForm:
    form = settings.providers.form
    assert isinstance(form, EndpointForm)
    return form


def _button(owner: QWidget, name: str) -> QPushButton | None:
    buttons = (button for button in owner.findChildren(QPushButton) if button.accessibleName() == name)
    return next((button for button in buttons if button.isVisible()), None)


def _listed(settings: SettingsWindow, endpoint_id: str) -> tuple[object, ...]:
    endpoint = settings.choices.settings.endpoint(endpoint_id)
    return endpoint.models if endpoint is not None else ()
