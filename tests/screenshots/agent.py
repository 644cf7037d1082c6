"""Pictures of models that work in a folder, of messages that wait, of versions, profiles and memory."""

import json
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor

from app.settings.schema import ANTHROPIC, OPENAI, Agents, Endpoint, ListedModel, Profile, Rule, Settings
from app.ui.bridge import Bridge
from app.ui.chat.composer_buttons import Moment
from app.ui.chat.deeds import Deed, Offer
from app.ui.chat.items import Speaker
from tests.benchmarks.driver import until
from tests.fakes.farend import FarEndThread, ToolCall, reply
from tests.screenshots.camera import NARROW, SIZE, Camera
from tests.screenshots.kyoto import FILES, LATE_NOTE, MEMORIES, NOTES, PLANNER, TYPED

MODEL: Final = "qwen3:8b"
PRACTICE: Final = "practice/practice"
SMALL: Final = (1040, 640)
"""Where there is little to see."""
MEDIUM: Final = (1040, 720)
HIGH: Final = 860
"""Of the settings where a whole profile is to be seen."""
WORDS_FIRST: Final = 50
"""How many are there of a reply when the queue is looked at."""
QUEUED: Final = (
    ("And what happens when a chat gets too long?", Moment.AFTER_TURN),
    ("How do I stop a reply?", Moment.AFTER_STEP),
)
READ: Final = "read Hotels.txt and Food.md"
CHANGE: Final = "change Kinkaku-ji to Kōdai-ji in Plan.md"
BOTH: Final = "The ryokan by the river is full. We take the Hotel Sanjō instead: put that in, wherever it stands."
BOTH_READ: Final = "I'll look where the ryokan is named."
BOTH_FOUND: Final = "It stands in two files. In the list of hotels I would keep it, but say that it is full."


def write_trip(folder: Path, data: Path, ollama: FarEndThread) -> Path:
    """Write the files of a trip and the settings of the person who makes it; return the folder of the files."""
    trip = folder / "Kyoto"
    for name, text in FILES.items():
        path = trip / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    data.mkdir()
    (data / "settings.json").write_text(_settings(ollama).model_dump_json(exclude_defaults=True), "utf-8")
    return trip


def _settings(ollama: FarEndThread) -> Settings:
    served = ListedModel(id=MODEL, limit=16_384, calls_tools=True, reasons=True)
    local = Endpoint(
        id="ollama",
        name="Ollama",
        maker="ollama",
        base_url=f"http://127.0.0.1:{ollama.port}/v1",
        needs_key=False,
        models=(served,),
    )
    planner = Profile(
        id="travel-planner",
        name="Travel planner",
        instructions=PLANNER,
        inherits="planner",
        rules=(Rule(pattern="write_file", effect="allow"),),
    )
    return Settings(endpoints=(ANTHROPIC, OPENAI, local), agents=Agents(profiles=(planner,)))


async def take_agent(camera: Camera, bridge: Bridge, ollama: FarEndThread, trip: Path) -> None:
    """Take them in the order in which a person comes to them."""
    await _take_folder(camera, trip)
    await _take_change(camera)
    await _take_two_questions(camera, ollama, trip)
    await _take_queue(camera)
    await _take_versions(camera)
    await _take_choices(camera)
    await _take_settings(camera)
    await _take_memory(camera, bridge)


async def _take_folder(camera: Camera, trip: Path) -> None:
    await _attach(camera, trip)
    await camera.say(READ)
    camera.window.page.transcript.scroll_to_item(camera.window.page.transcript.nodes[0].item.id)
    await camera.take("folder")


async def _take_change(camera: Camera) -> None:
    window = camera.window
    camera.type(CHANGE)
    await until(lambda: window.controller.approvals.waiting)
    await camera.take("change-asked")
    camera.use(Qt.ColorScheme.Dark)
    await camera.take("change-asked-dark")
    camera.use(Qt.ColorScheme.Light)
    window.resize(*NARROW)
    await camera.take("change-asked-narrow")
    window.resize(*SIZE)
    window.page.scroll_to_end()
    window.actions_.allow.trigger()
    await until(lambda: not window.controller.is_streaming)
    await camera.take("change-done")


async def _take_two_questions(camera: Camera, ollama: FarEndThread, trip: Path) -> None:
    """Let a model want two things at once."""
    window = camera.window
    await camera.new_chat()
    await camera.choose_model(f"ollama/{MODEL}")
    await _attach(camera, trip)
    ollama.play(
        reply(BOTH_READ, tool=[_call("read_file", path=name) for name in ("Plan.md", "Hotels.txt")]),
        reply(
            BOTH_FOUND,
            tool=[
                _call("edit_file", path="Plan.md", old_text="Ryokan Kamogawa", new_text="Hotel Sanjō"),
                _call(
                    "edit_file",
                    path="Hotels.txt",
                    old_text="Ryokan Kamogawa: baths",
                    new_text="Ryokan Kamogawa (full in November): baths",
                ),
            ],
        ),
        reply("Both are changed."),
    )
    camera.type(BOTH)
    await until(lambda: len(window.controller.approvals.waiting) > 1)
    await camera.take("waiting-answers")
    for _ in window.controller.approvals.waiting:
        await _allow_first(camera)
    await until(lambda: not window.controller.is_streaming)


async def _allow_first(camera: Camera) -> None:
    approvals = camera.window.controller.approvals
    asked = approvals.waiting
    # What is not on screen can't be allowed.
    approvals.show(asked[0].call_id)
    camera.window.actions_.allow.trigger()
    await until(lambda: approvals.waiting != asked)


async def _take_queue(camera: Camera) -> None:
    window = camera.window
    await camera.new_chat()
    await camera.choose_model(PRACTICE)
    await camera.say("What is a token?")
    window.resize(*MEDIUM)
    camera.type("write 900 words")
    view = window.page.transcript
    await until(lambda: window.controller.is_streaming and view.nodes[-1].item.streaming)
    for text, moment in QUEUED:
        await _queue(camera, text, moment)
    window.page.composer.set_text("Thank you. One more thing:")
    await until(lambda: sum(section.words for section in view.nodes[-1].sections) > WORDS_FIRST)
    await camera.take("queue", settle_seconds=0)
    window.page.composer.set_text("")
    window.actions_.stop.trigger()
    await until(lambda: not window.controller.is_streaming)
    await camera.take("queue-paused")
    window.resize(*NARROW)
    await camera.take("queue-narrow")
    window.resize(*SIZE)


async def _queue(camera: Camera, text: str, moment: Moment) -> None:
    page = camera.window.page
    known = page.queue_tray.model.rowCount()
    page.composer.set_text(text)
    page.composer.submit_at(moment)
    await until(lambda: page.queue_tray.model.rowCount() > known)
    await until(lambda: page.composer.may_attach)


async def _take_versions(camera: Camera) -> None:
    window = camera.window
    composer, view = window.page.composer, window.page.transcript
    await camera.new_chat()
    await camera.say("How do I make a backup?")
    await camera.say("How do I delete a chat?")
    await camera.say("And how do I get it back?")
    window.resize(*SMALL)
    before, changed = view.nodes[1].item.id, view.nodes[2].item.id
    window.controller.messages.take(changed, Offer(Deed.EDIT))
    await until(lambda: composer.is_editing)
    view.scroll_to_item(before)
    composer.set_text("How do I get a deleted chat back?")
    await camera.take("edit")
    composer.submit()
    await until(lambda: all(node.item.id != changed for node in view.nodes))
    await until(lambda: view.nodes[-1].item.speaker is Speaker.ASSISTANT and not window.controller.is_streaming)
    await camera.take("versions")
    window.resize(*SIZE)


async def _take_choices(camera: Camera) -> None:
    """Take what is chosen for a chat: how long its model thinks, and who answers."""
    window = camera.window
    picker = camera.open_picker()
    await camera.take("thinking")
    picker.close_up()
    button, menu = window.page.profile_button, window.profiles.menu
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
    await camera.take("profiles", menu=menu)
    menu.close()


async def _take_settings(camera: Camera) -> None:
    settings = camera.window.show_settings()
    await until(lambda: "travel-planner" in settings.agents.cards)
    settings.open_page(settings.agents)
    await camera.take("agents", settings)
    settings.agents.open_profile("travel-planner")
    await until(lambda: settings.agents.form is not None)
    size = settings.size()
    settings.resize(size.width(), HIGH)
    await camera.take("profile", settings)
    settings.resize(size)
    settings.close()


async def _take_memory(camera: Camera, bridge: Bridge) -> None:
    window = camera.window
    await camera.new_chat()
    for note in NOTES:
        await camera.say(f"note {note}")
    for path, text in MEMORIES.items():
        await bridge.save_memory(window.controller.session, path, text, version="")
    panel = window.sides.show_memory()
    panel.refresh()
    await until(lambda: sum(len(listing.entries) for listing in panel.listings.values()) > len(MEMORIES))
    window.resize(*SMALL)
    await camera.take("memory")
    notes = next(entry for listing in panel.listings.values() for entry in listing.entries if "notes" in entry.name)
    panel.editing.open(window.controller.session, notes.path)
    await until(panel.editor.isVisible)
    panel.editor.field.moveCursor(QTextCursor.MoveOperation.End)
    panel.editor.field.insertPlainText(TYPED)
    await camera.say(f"note {LATE_NOTE}")
    await until(panel.editor.conflict.isVisible)
    await camera.take("memory-conflict")
    panel.editing.take_theirs()
    panel.editing.close()
    await until(lambda: not panel.editor.isVisible())
    window.resize(*SIZE)
    window.panes.show_memory(on=False)


async def _attach(camera: Camera, folder: Path) -> None:
    window = camera.window
    window.folder.attach(window.controller.session, str(folder))
    await until(window.page.composer.folder_chip.isVisible)


def _call(tool: str, **arguments: str) -> ToolCall:
    return ToolCall(f"call_{arguments['path']}", tool, json.dumps(arguments, ensure_ascii=False))
