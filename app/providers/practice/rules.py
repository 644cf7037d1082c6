"""What the Practice model says: commands first, then questions it knows, then what it can do."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, TypeAdapter

from app.assets import resource
from app.domain.errors import ErrorKind
from app.providers.practice.calls import PlannedCall, plan_call, report_on
from app.providers.practice.errands import Errand, Made, plan_errand
from app.providers.practice.prose import MAX_WORDS, ProseKit, write_prose
from app.providers.practice.questions import Questions, Topic

SLOW_WORDS_PER_SECOND: Final = 4.0


@dataclass(frozen=True, slots=True)
class Script:
    """A whole reply and how it goes."""

    text: str = ""
    reasoning: str = ""
    """Comes before the text."""
    words_per_second: float | None = None
    """None: at the provider's pace."""
    failure: ErrorKind | None = None
    """Strikes after the text."""
    after_failure: str = ""
    """What a reply goes on with that is continued after its failure."""
    calls: tuple[PlannedCall, ...] = ()
    """Made after the text; the reply ends with them."""

    def rest(self, *, said: str, reasoned: str = "") -> "Script":
        """Return what is left to say after the text `said` and the reasoning `reasoned`.

        Differences in white space don't matter: what was stored may have been trimmed.
        """
        start = _end_of(said, self.text + self.after_failure)
        if start is None:
            return Script("I can't tell where that reply stopped. Please ask again.")
        if said and start >= len(self.text):
            ending = (self.text + self.after_failure)[start:]
            return replace(self, text=ending or "That was the whole reply.", reasoning="", failure=None)
        reasoning = "" if said else self.reasoning[_end_of(reasoned, self.reasoning) or 0 :]
        return replace(self, text=self.text[start:], reasoning=reasoning)


def _joined(value: object) -> object:
    return "\n\n".join(value) if isinstance(value, list) else value


_Text = Annotated[str, BeforeValidator(_joined)]
"""Markdown, written in the file as a list of its blocks."""


class _Entry(BaseModel):
    id: str
    question: str = ""
    asks: tuple[str, ...]
    answer: _Text


class _Book(BaseModel):
    """The shape of `resources/practice.json`."""

    questions: tuple[_Entry, ...]
    small_talk: tuple[_Entry, ...]
    synonyms: tuple[tuple[str, ...], ...]
    fillers: tuple[str, ...]
    frames: tuple[str, ...]
    texts: Mapping[str, _Text]
    failures: Mapping[ErrorKind, str]


class Rules:
    """Everything the Practice model knows. Frozen after its making, so any thread may ask."""

    def __init__(self, book: _Book, prose: ProseKit) -> None:
        entries = (*book.questions, *book.small_talk)
        topics = [Topic(entry.id, entry.question, entry.asks, entry.answer) for entry in entries]
        self._questions = Questions(topics, synonyms=book.synonyms, fillers=book.fillers, frames=book.frames)
        self._texts = book.texts
        self._failures = book.failures
        self._prose = prose

    def answer(self, message: str, *, tools: Collection[str] = (), made: Made = ()) -> Script:
        """Return the next reply to what a person wrote; there always is one.

        `tools` are the names of those on offer, `made` the calls of earlier replies to the message.
        """
        return self._command(message, tools, made) or self._known(message) or Script(self._fallback(message))

    def explain_failure(self, kind: ErrorKind) -> str:
        """Return what an error made on purpose says."""
        return self._failures[kind]

    def _command(self, message: str, tools: Collection[str], made: Made) -> Script | None:
        typed = message.strip().strip("`").removeprefix("/").strip()
        asked = typed.rstrip(".!").strip()
        if asked.casefold() == "think":
            return Script(self._texts["think"], reasoning=self._texts["think_reasoning"])
        if asked.casefold() in ("table", "code"):
            return Script(self._texts[asked.casefold()])
        if found := _WRITE.fullmatch(asked):
            return self._write(found["count"], about=found["about"])
        if found := _FAIL.fullmatch(asked):
            return self._fail(found["kind"] or "", after_text=found["after"] is not None)
        if found := _SLOW.fullmatch(typed):
            return self._slow(found["request"], tools, made)
        match plan_errand(typed):
            case Errand() as errand:
                return _on_errand(errand, tools, made)
            case str() as hint:
                return Script(hint)
            case None:
                pass
        return _on_call(plan_call(asked, tools), made)

    def _known(self, message: str) -> Script | None:
        topic = self._questions.find(message)
        return Script(topic.answer) if topic is not None else None

    def _fallback(self, message: str) -> str:
        meant = [topic.question for topic in self._questions.suggest(message) if topic.question]
        if not meant:
            return self._texts["unknown"]
        return "\n\n".join(
            [self._texts["unsure"], "\n".join(f"- {question}" for question in meant), self._texts["hint"]]
        )

    def _write(self, count: str | None, *, about: str | None) -> Script:
        digits = re.sub(r"\D", "", count or "")
        if about:
            return Script(self._texts["write_about"])
        if not digits or len(digits) > len(str(MAX_WORDS)) or not 1 <= int(digits) <= MAX_WORDS:
            return Script(self._texts["write_range"])
        return Script(write_prose(int(digits), self._prose))

    def _fail(self, name: str, *, after_text: bool) -> Script:
        kind = re.sub(r"[\s-]+", "_", name.strip().casefold())
        if kind not in set(ErrorKind):
            kinds = ", ".join(f"`{kind}`" for kind in ErrorKind)
            return Script(f"{self._texts['fail_kinds']} {kinds}.")
        if not after_text:
            return Script(failure=ErrorKind(kind))
        ending = self._texts["fail_after"]
        return Script(self._texts["fail_before"], failure=ErrorKind(kind), after_failure=f"\n\n{ending}")

    def _slow(self, request: str, tools: Collection[str], made: Made) -> Script:
        request = request if request.strip(".! ") else ""
        script = (self._command(request, tools, made) or self._known(request)) if request else None
        return replace(script or Script(self._texts["slow"]), words_per_second=SLOW_WORDS_PER_SECOND)


def load_rules() -> Rules:
    """Read what ships with the program; imports what fuzzy matching needs."""
    book = _Book.model_validate_json(resource("practice.json").read_bytes())
    prose = TypeAdapter(ProseKit).validate_json(resource("practice-prose.json").read_bytes())
    return Rules(book, prose)


_WRITE: Final = re.compile(
    r"(?:please\s+)?write(?:\s+me)?(?:\s+(?P<count>\d[\d.,' ]*))?(?:\s*words?)?(?P<about>\s+(?:about|on)\s.+)?",
    re.IGNORECASE | re.DOTALL,
)
_FAIL: Final = re.compile(r"fail(?:\s+(?!after\s)(?P<kind>.+?))?(?P<after>\s+after\s+text)?", re.IGNORECASE)
_SLOW: Final = re.compile(r"(?:slow\b\s*)+(?:down\b\s*)?(?P<request>.*)", re.IGNORECASE | re.DOTALL)


def _on_errand(errand: Errand, tools: Collection[str], made: Made) -> Script:
    if not made and (hindrance := errand.hindrance(tools)):
        return Script(hindrance)
    calls = errand.steps(made)
    return Script(calls=calls) if calls else Script(errand.report(made))


def _on_call(planned: PlannedCall | str | None, made: Made) -> Script | None:
    if planned is not None and made:
        return Script(report_on(made[-1][-1]))
    match planned:
        case PlannedCall() as call:
            return Script(calls=(call,))
        case str() as reason:
            return Script(reason)
        case None:
            return None


def _end_of(said: str, whole: str) -> int | None:
    """Return where `said`, a beginning of `whole` up to white space, ends in it."""
    if whole.startswith(said):
        return len(said)
    inked: Sequence[int] = [index for index, char in enumerate(whole) if not char.isspace()]
    letters = "".join(said.split())
    if not letters or "".join(whole[index] for index in inked[: len(letters)]) != letters:
        return None if letters else 0
    return inked[len(letters) - 1] + 1
