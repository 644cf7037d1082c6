"""What a process has acknowledged before it was killed, and whether the disk still says so.

`{"asks": id, "text"}` then `{"accepted": id}` or `{"refused": id}`: a message, sent or queued.
`{"changes": id, "how", "text"}` then `{"changed": id, "done"}`: a change of the queue.
`{"drafts": text}` then `{"drafted": text}`. `{"rows": ids}`, `{"queue": ids}`: what was told of disk.
`{"question": token}`, `{"allows": token, "always"}`. `{"wrong": what}`: what the process itself found.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.soak.chat_look import Found
from tests.soak.look import Fields

SETTLED: Final = ("done", "interrupted", "denied")


@dataclass
class Message:
    """A message of the person's: where it must be now, and what it may say."""

    texts: set[str]
    place: Literal["one", "none", "one or none"] = "one or none"

    def allows(self, places: int) -> bool:
        match self.place:
            case "one":
                return places == 1
            case "none":
                return places == 0
            case _:
                return places <= 1


@dataclass
class Ledger:
    """What is known for certain, over many lives."""

    messages: dict[str, Message] = field(default_factory=dict)
    rows: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    acknowledged: int = 0
    _drafts: list[str] = field(default_factory=lambda: [""])
    """The newest that is on disk for certain, and those that may be."""
    _queue: list[str] = field(default_factory=list)
    _changing: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    _questions: set[str] = field(default_factory=set)
    _allowed: set[str] = field(default_factory=set)
    _has_allowed_all: bool = False

    def hear(self, told: Fields) -> None:
        """Take one line."""
        match told:
            case {"rows": ids}:
                self.rows.update(ids)
            case {"queue": ids}:
                self._queue = ids
            case {"wrong": what}:
                self.wrong.append(what)
            case {"drafts": text}:
                self._drafts.append(text)
            case {"drafted": text}:
                if text in self._drafts:
                    self._drafts = self._drafts[self._drafts.index(text) :]
            case {"question": token}:
                self._questions.add(token)
            case {"allows": token, "always": is_always}:
                self._allowed.add(token)
                self._has_allowed_all |= is_always
            case _:
                self._hear_of_message(told)

    def _hear_of_message(self, told: Fields) -> None:
        match told:
            case {"asks": message, "text": text}:
                self.messages[message] = Message({text})
            case {"accepted": message}:
                self.messages[message].place = "one"
                self.acknowledged += 1
            case {"refused": message}:
                self.messages[message].place = "none"
            case {"changes": message, "how": how, "text": text}:
                self._begin_change(message, how, text)
            case {"changed": message, "done": is_done}:
                self._end_change(message, is_done=is_done)
                self.acknowledged += is_done
            case _:
                pass

    def _begin_change(self, message: str, how: str, text: str | None) -> None:
        self._changing[message] = how, text
        if how == "RemoveQueued":
            self.messages[message].place = "one or none"
        elif text is not None:
            self.messages[message].texts.add(text)

    def _end_change(self, message: str, *, is_done: bool) -> None:
        how, text = self._changing.pop(message)
        known = self.messages[message]
        if how == "RemoveQueued":
            known.place = "none" if is_done else "one"
        elif text is not None:
            known.texts = {text} if is_done else known.texts - {text}

    # Against the disk

    def check(self, found: Found, *, before_open: Sequence[str]) -> list[str]:
        """Return what is wrong with a chat that was opened after a kill; `before_open` waited on disk before."""
        problems = [
            *self.wrong,
            *self._message_problems(found),
            *self._row_problems(found),
            *self._call_problems(found),
            *self._queue_problems(found, before_open),
        ]
        if found.draft not in self._drafts:
            problems.append(f"the draft is {found.draft!r} and not {self._drafts}")
        return problems

    def settle(self, found: Found) -> None:
        """Take what the disk says for certain, where the kill had left a doubt."""
        places = found.places()
        for message_id, message in self.messages.items():
            if message.place == "one or none":
                message.place = "one" if places[message_id] else "none"
        for message_id, text in found.texts():
            if message_id in self.messages:
                self.messages[message_id].texts = {text}
        self.rows.update(row["id"] for row in found.rows)
        self._drafts = [found.draft]
        self._queue = found.queued_ids
        self._changing.clear()
        self.wrong.clear()

    def _message_problems(self, found: Found) -> list[str]:
        places = found.places()
        problems = [
            f"a message that must be in {message.place} place is in {places[message_id]}: {message.texts}"
            for message_id, message in self.messages.items()
            if not message.allows(places[message_id])
        ]
        known = [(self.messages[each], text) for each, text in found.texts() if each in self.messages]
        problems += [f"a message says {text!r} and not {each.texts}" for each, text in known if text not in each.texts]
        said = Counter(text for row_id, text in found.texts() if row_id in self.messages)
        return problems + [f"{text!r} was said {count} times" for text, count in said.items() if count > 1]

    def _row_problems(self, found: Found) -> list[str]:
        places = found.places()
        problems = [f"the row {row} is in {places[row]} places" for row in self.rows if places[row] != 1]
        problems += [f"the id {each} is there {count} times" for each, count in places.items() if count > 1]
        numbers = [row["seq"] for row in found.chat]
        if numbers != sorted(set(numbers)):
            problems.append("rows are out of order")
        return problems

    def _call_problems(self, found: Found) -> list[str]:
        calls = found.calls
        states = {call["input"]["token"]: call["state"] for call in calls}
        ran = set(found.marks)
        problems = [f"a call ran {count} times" for count in Counter(found.marks).values() if count > 1]
        problems += [f"the call {token} ran and is in no row" for token in ran - states.keys()]
        problems += [f"a call is {state}" for state in set(states.values()) - set(SETTLED)]
        problems += [
            f"a call is {state}, ran: {token in ran}" for token, state in states.items() if _is_odd(token, state, ran)
        ]
        problems += [f"a call with the result {call.get('output')!r}" for call in calls if _is_orphan(call)]
        problems += [
            f"the calls of row {row['id']} ran out of order" for row in found.rows if not found.ran_in_order(row)
        ]
        if len(states) != len(calls):
            problems.append(f"{len(calls) - len(states)} calls are there twice")
        if not self._has_allowed_all:
            problems += [f"the call {token} ran without leave" for token in (self._questions & ran) - self._allowed]
        return problems

    def _queue_problems(self, found: Found, before_open: Sequence[str]) -> list[str]:
        told = [each for each in self._queue if each in before_open and each not in self._changing]
        kept = [each for each in before_open if each in told]
        problems = [f"the queue was told as {told} and is {kept}"] if told != kept else []
        sent = {row["id"] for row in found.rows}
        waiting = [each for each in before_open if each not in sent]
        if found.queued_ids != waiting:
            problems.append(f"opening made {found.queued_ids} of the queue {waiting}")
        return problems


def _is_odd(token: str, state: str, ran: set[str]) -> bool:
    """Whether a call that is done left no mark, or one that was not allowed did."""
    return token not in ran if state == "done" else state == "denied" and token in ran


def _is_orphan(call: Fields) -> bool:
    """Whether a call has the result of another; one that was cut off has none of its own."""
    output, token = call.get("output"), call["input"]["token"]
    return output != f"marked {token}" if call["state"] == "done" else f"marked {token}" in str(output)
