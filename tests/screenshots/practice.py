"""Pictures with the Practice model: the first start, chats, a reply that is being written and one that was stopped."""

from PySide6.QtCore import Qt

from tests.benchmarks.driver import until
from tests.screenshots.camera import NARROW, SIZE, Camera


async def take_practice(camera: Camera) -> None:
    """Take them in an order in which each chat is there when it is needed."""
    window = camera.window
    await camera.take("first-start")
    await camera.say("What is Muntin?")
    await camera.say("How do I stop a reply?")
    await camera.new_chat()
    await camera.say("table")
    await camera.say("code")
    await camera.take("conversation")
    camera.use(Qt.ColorScheme.Dark)
    await camera.take("dark")
    camera.use(Qt.ColorScheme.Light)
    window.resize(*NARROW)
    await camera.take("narrow")
    window.resize(*SIZE)
    await camera.new_chat()
    camera.type("write 120 words")
    await until(lambda: _words_shown(camera) > 60)
    await camera.take("streaming", settle_seconds=0)
    window.actions_.stop.trigger()
    await until(lambda: not window.controller.is_streaming)
    await camera.take("interrupted")


def _words_shown(camera: Camera) -> int:
    nodes = camera.window.page.transcript.nodes
    return sum(section.words for section in nodes[-1].sections) if nodes else 0
