import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from app.assets import resource
from app.domain.errors import ErrorKind
from app.providers.practice.questions import MAX_QUESTION_CHARS, Questions, Topic
from app.providers.practice.rules import Rules, load_rules
from app.ui.actions import make_actions
from app.ui.wording import error_sentence

GUIDE = Path(__file__).parents[3] / "docs" / "user-guide.md"

ASKED = [
    ("data-folder", "hey, where does this thing actually put my conversations on the hard drive?"),
    ("data-folder", "wher are my chats stord"),
    ("data-folder", "Hi! Where on my Mac does Muntin keep my chats?"),
    ("saving", "do i have to save before closing?"),
    ("saving", "If I turn off the computer tonight, will this conversation still be here tomorrow?"),
    ("stop", "is there a way to cancle a reply"),
    ("stop", "How do I stop the answer halfway through?"),
    ("continue", "you stopped in the middle, how do I get the rest?"),
    ("try-again", "it failed. how can I try that once more?"),
    ("automatic-tries", "how often does it retry by itself"),
    ("new-chat", "How do I start a fresh conversation?"),
    ("rename", "chnage chat titel"),
    ("delete", "how do I get rid of this chat"),
    ("undelete", "oops I deleted the wrong chat, can I get it back?"),
    ("drafts", "does it remember what i typed but didn't send"),
    ("closing", "what if my laptop dies while you are writing an answer"),
    ("several-chats", "will it keep going if I click on a different chat?"),
    ("typing-while-writing", "why can't I send while it is answering"),
    ("appearance", "Can I make the window dark? it's too bright at night"),
    ("shortcuts", "what hotkeys are there"),
    ("next-pane", "what is F6 for"),
    ("new-line", "how to go to the next line without sending"),
    ("send", "I just installed this. How do I get started?"),
    ("quit", "how do I shut this program down"),
    ("copy", "how can I copy the whole answer"),
    ("search", "can I search through my old chats"),
    ("search", "in which of my chats did I write about it?"),
    ("find", "how do I find a word in this chat"),
    ("history", "what is Ctrl+H for"),
    ("history", "where can I see the old context windows of this chat?"),
    ("start-afresh", "can I make you forget what I said?"),
    ("start-afresh", "how do I reset the context"),
    ("branch", "can I fork this conversation"),
    ("kept", "do my old messages get lost when the chat is long?"),
    ("tools", "can you look up what was said in the history of this chat?"),
    ("approvals", "how can I refuse a change the model wants to make?"),
    ("edit-message", "I made a typo in my message, can I correct it?"),
    ("attachments", "Is it possible to attach pictures?"),
    ("export", "can I import my old ChatGPT conversations?"),
    ("backup", "I'm getting a new laptop, how do I take my chats with me?"),
    ("move-data", "i'd like to keep my chats on an external drive"),
    ("in-use", "why is this chat read only?"),
    ("damaged-rows", 'what does "1 damaged entry" mean?'),
    ("disk-full", "it couldn't save my message because the disk is full"),
    ("errors", "I got a weird error, what does it mean"),
    ("privacy", "is there any tracking or telemetry"),
    ("privacy", "who can see what I write here?"),
    ("offline", "does this work without internet?"),
    ("cost", "do I need an account or a key"),
    ("other-models", "How can I use GPT-4 in Muntin?"),
    ("practice-model", "are you an actual artificial intelligence?"),
    ("practice-model", "who are you?"),
    ("context-window", "how much text can you remember"),
    ("tokens", "how many words are there in one token"),
    ("rollover", "does it summarize old messages"),
    ("chat-too-long", "what do I do when the context window is full?"),
    ("what-is-muntin", "so what is muntin?"),
    ("the-name", "why is it called muntin"),
    ("updates", "which version am I running"),
    ("language", "do you speak German?"),
    ("speed", "why do the words come one by one"),
    ("scrolling", "how do I get back to the bottom of the chat"),
    ("markdown", "does Muntin render markdown tables?"),
    ("chats-list", "where did yesterday's conversation go?"),
    ("tools", "can you open files on my computer"),
    ("why-so-limited", "can you write a poem"),
    ("greeting", "Hi!"),
    ("thanks", "Thanks, that helped!"),
    ("goodbye", "bye"),
    ("help", "what can you do?"),
    ("links", "how do I open a link"),
    ("systems", "can I use it on windows"),
    ("hide-list", "how do I hide the list of chats"),
    ("hide-list", "can I get the sidebar out of the way?"),
    ("hide-list", "the list on the left is gone, how do I bring it back"),
    ("hide-list", "where is my list of chats when the window is narrow"),
    ("links", "what happens when I click on a link in a reply"),
    ("systems", "does it run on a mac?"),
    ("systems", "is there a version for Windows 11"),
    ("copy", "how can I copy without the formatting"),
    ("copy", "how do I select everything in a chat"),
    ("marks", "what does the exclamation mark next to my chat mean"),
    ("disk-full", "is a message lost if the disk runs full"),
    ("disk-full", "the reply could not be saved, what now"),
    ("delete", "which key deletes a chat"),
    ("delete", "delete everything"),
    ("cost", "delete my account"),
    ("continue", "I pressed stop by accident, now what"),
    ("cost", "do you cost anything"),
    ("updates", "where do I see what version this is"),
    ("folder", "how can I give you a folder of mine"),
    ("folder-change", "I want to detach that folder again"),
    ("always", "I allowed it always, can I take that back?"),
    ("tool-box", "what's that box with a tool's name?"),
    ("step-limit", "why did you stop after a hundred calls"),
    ("fallback", "why did a different model answer in its place?"),
    ("profile", "what are those profiles, Planner and Reader?"),
    ("profile-choose", "can I switch to another profile here"),
    ("profile-own", "where do I write custom instructions?"),
    ("memory", "what does memory mean here?"),
    ("memory-change", "can I see the notes the model keeps"),
    ("queue-when", "when will my queued message go out?"),
    ("queue-change", "can I put the waiting messages in another order"),
    ("queue-held", "why are my messages still waiting?"),
    ("versions", "can I go back to the version I had before?"),
    ("message-buttons", "what are the buttons under a message for"),
]

UNCLEAR = [
    "how do I pin a chat",
    "no",
    "why",
    "hello world this is quick",
    "how do I pin a message to the top",
    "maybe",
    "yes",
    "because",
    "what?",
    "where",
    "how",
    "can I change the font",
    "how do I archive a chat",
    "hello my name is Anna and I like trains",
    "open the door",
    "I closed the window because it was cold",
    "turn off notifications",
    "how do I start the car",
    "show me everything",
    "who is the boss here",
    "everything is fine",
]

NOT_ABOUT_MUNTIN = [
    "asdf qwer zxcv",
    "qwertyuiop",
    "blue elephants calculate the sunrise sideways",
    "the quick brown fox jumps over the lazy dog",
    "my cat is sitting on the keyboard",
    "lorem ipsum dolor sit amet",
    "2+2",
    "the",
    "?",
    "",
    "Berlin",
    "the window in my kitchen is broken",
    "compare Kant and Hegel",
    "how do I save money",
    "who wrote Faust",
    "delete system32",
]


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules()


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    book = _book()
    return {entry["id"]: _text(entry["answer"]) for entry in (*book["questions"], *book["small_talk"])}


def _book() -> dict[str, Any]:
    book: dict[str, Any] = json.loads(resource("practice.json").read_bytes())
    return book


def _text(answer: str | list[str]) -> str:
    return answer if isinstance(answer, str) else "\n\n".join(answer)


@pytest.mark.parametrize(("topic", "message"), ASKED)
def test_a_question_in_a_persons_own_words_gets_its_answer(
    rules: Rules, answers: dict[str, str], topic: str, message: str
) -> None:
    assert rules.answer(message).text == answers[topic]


@pytest.mark.parametrize("message", NOT_ABOUT_MUNTIN)
def test_what_is_no_question_on_muntin_gets_no_answer_on_it(
    rules: Rules, answers: dict[str, str], message: str
) -> None:
    assert rules.answer(message).text not in {text for topic, text in answers.items() if topic != "why-so-limited"}


@pytest.mark.parametrize("message", UNCLEAR)
def test_an_unclear_question_is_not_answered_by_a_guess(rules: Rules, answers: dict[str, str], message: str) -> None:
    assert rules.answer(message).text not in answers.values()


def test_every_phrasing_in_the_book_gets_its_own_answer(rules: Rules, answers: dict[str, str]) -> None:
    book = _book()
    for entry in (*book["questions"], *book["small_talk"]):
        for ask in (*entry["asks"], *([entry["question"]] if "question" in entry else [])):
            assert rules.answer(ask).text == answers[entry["id"]], ask


def test_the_guide_holds_every_answer_below_its_question() -> None:
    sections = dict(
        section.split("\n\n", maxsplit=1) for section in GUIDE.read_text(encoding="utf-8").split("\n### ")[1:]
    )
    for entry in _book()["questions"]:
        assert _text(entry["answer"]) in sections[entry["question"]], entry["id"]


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_the_guide_holds_what_the_window_says_about_every_error(kind: ErrorKind) -> None:
    assert f"| `{kind}` | {error_sentence(kind)} |" in GUIDE.read_text(encoding="utf-8")


def test_the_guide_and_the_practice_model_know_every_key(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    redo = make_actions(window).redo
    # The key for redo is the desktop's; a test without one gets another.
    actions = [action for action in window.actions() if action is not redo]
    portable = {action.shortcut().toString(QKeySequence.SequenceFormat.PortableText) for action in actions}
    keys = {keys.replace("Return", "Enter") for keys in portable}
    (table,) = [_text(entry["answer"]) for entry in _book()["questions"] if entry["id"] == "shortcuts"]
    cells = [row.split("|")[1].strip() for row in table.splitlines() if row.startswith("|")]
    listed = {word for cell in cells for word in re.split(",? +", cell)}
    assert keys - {""} <= listed


def test_there_are_answers_to_forty_questions_and_more() -> None:
    ids = [entry["id"] for entry in _book()["questions"]]
    assert len(ids) == len(set(ids)) >= 40


TOPICS = [
    Topic("cats", "What do cats eat?", ("what do cats eat", "food for a cat"), "Fish."),
    Topic("dogs", "Where do dogs sleep?", ("where do dogs sleep", "bed for a dog"), "In a basket."),
    Topic("hello", "", ("hello", "good day"), "Hello."),
]


@pytest.fixture(scope="module")
def pets() -> Questions:
    return Questions(TOPICS, synonyms=[("dog", "hound")], fillers=["please"], frames=["where", "do", "what"])


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("What do cats eat?", "cats"),
        ("please what do cats eat", "cats"),
        ("where do hounds sleep", "dogs"),
        ("where do dogs sleeep", "dogs"),
        ("hello", "hello"),
        ("Hello! Where do dogs sleep?", "dogs"),
        ("Where do trains go?", None),
        ("where do", None),
        ("please", None),
    ],
)
def test_a_question_is_found_by_its_telling_words(pets: Questions, message: str, topic: str | None) -> None:
    found = pets.find(message)
    assert (found.id if found else None) == topic


@pytest.mark.parametrize(("length", "is_found"), [(MAX_QUESTION_CHARS, True), (MAX_QUESTION_CHARS + 1, False)])
def test_a_long_text_is_no_question(pets: Questions, length: int, is_found: bool) -> None:
    assert (pets.find("what do cats eat".ljust(length, "?")) is not None) == is_found


@given(message=st.text())
def test_any_text_may_be_asked(pets: Questions, message: str) -> None:
    assert all(0 <= match.likeness <= 1.000_001 for match in pets.closest(message))
