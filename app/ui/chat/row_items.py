"""Rows of history as items of the transcript: what each row shows, decided without Qt widgets."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QLocale, QTime

from app.domain.errors import ErrorKind
from app.domain.events import RetryScheduled
from app.domain.rows import STEP_LIMIT, Boundary, Flag, Kind, MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import one_line
from app.history.reader import DamagedEntry, Entry, RowEntry
from app.session.attachments import MAX_NAME_CHARS
from app.session.state import is_cut_off, is_sendable
from app.ui.chat.attachments_wording import detail_of
from app.ui.chat.furniture import time_text
from app.ui.chat.items import AttachedFile, Item, ItemAction, Section, Speaker, ToolCall
from app.ui.wording import told_error

ModelName = Callable[[str], str]
"""Gives the name for people of a `provider/model`."""


def items_of(entries: Sequence[Entry], model_name: ModelName) -> list[Item]:
    """Return what the transcript shows for `entries`, oldest first; hidden rows show nothing."""
    items: list[Item] = []
    for is_plain_damage, group in itertools.groupby(entries, _is_plain_damage):
        if is_plain_damage:
            items.append(_damage_item([entry for entry in group if isinstance(entry, DamagedEntry)]))
            continue
        for entry in group:
            item = _oversized_item(entry) if isinstance(entry, DamagedEntry) else item_of(entry.row, model_name)
            if item is not None:
                items.append(item)
    return items


def item_of(row: Row, model_name: ModelName) -> Item | None:
    """Return what the transcript shows for one row, None if it is hidden."""
    if Flag.HIDDEN in row.flags:
        return None
    if row.boundary is not None:
        return _divider(row, row.boundary)
    if row.kind != Kind.MESSAGE:
        return _notice(row.id, _tr("An entry of a newer version of Muntin ({kind}).").format(kind=row.kind[:40]))
    item = Item(
        id=row.id,
        speaker=Speaker.USER if row.role == "user" else Speaker.ASSISTANT,
        name=_tr("You") if row.role == "user" else _model_of(row, model_name),
        aside=_instead_of(row, model_name),
        created=row.created,
        sections=_sections(row),
        files=_files(row),
    )
    return item if row.role == "user" else _with_note(item, row)


def with_action(item: Item, row: Row) -> Item:
    """Return `item` with what helps a reply that was cut off: mostly one thing, and another try where it takes both.

    Thoughts alone can't be continued: a model is never sent its own. A chat that has outgrown its model
    is not helped by another try.
    """
    if not is_cut_off(row):
        # Its calls are settled, and the model was not asked again: Stop or a crash came between two steps.
        item = replace(item, note=_tr("The model has not gone on from here."))
    again = ItemAction.CONTINUE if is_sendable(row) else ItemAction.RETRY
    match row.error.kind if row.error is not None else None:
        case ErrorKind.CONTEXT_EXCEEDED:
            return replace(item, actions=(ItemAction.NEW_CHAT, ItemAction.MODEL))
        case ErrorKind.AUTHENTICATION:
            return replace(item, actions=(ItemAction.SETTINGS, again))
        case ErrorKind.INVALID_REQUEST if row.error is not None and row.error.detail and not row.error.is_quote:
            # Muntin's own words are mostly of what answers at the address: a web page, a redirect. Where they are of a
            # request that is too large, another model may take it.
            return replace(item, actions=(ItemAction.SETTINGS, ItemAction.MODEL, again))
        case ErrorKind.QUOTA | ErrorKind.MODEL_NOT_FOUND | ErrorKind.INVALID_REQUEST:
            return replace(item, actions=(ItemAction.MODEL, again))
        case _:
            return replace(item, actions=(again,))


def unsaved_item(item: Item, reason: str) -> Item:
    """Return a reply that the disk refuses so far."""
    note = _tr("This reply is not saved yet. {reason}").format(reason=reason)
    return replace(item, note=note, is_error=True, actions=(ItemAction.SAVE,))


def waiting_item(retry: RetryScheduled) -> Item:
    """Return what stands below a message while the next try is waited for."""
    sentence = told_error(retry.error_kind, retry.detail, is_quote=retry.is_quote)
    text = _tr("{sentence} Waiting to try again.").format(sentence=sentence)
    return _notice(f"waiting-{retry.session}", text)


def open_turn_item(row_id: str) -> Item:
    """Return what stands below a message that never got a reply."""
    return replace(
        _notice(f"open-{row_id}", _tr("There is no reply to this message yet.")), actions=(ItemAction.RETRY,)
    )


def last_message(entries: Sequence[Entry]) -> Row | None:
    """Return the newest row of the window that is a message of either side, hidden requests to go on left out."""
    for entry in reversed(entries):
        if not isinstance(entry, RowEntry):
            continue
        if entry.row.boundary is not None:
            return None
        if entry.row.kind == Kind.MESSAGE:
            return entry.row
    return None


def _model_of(row: Row, model_name: ModelName) -> str:
    return model_name(f"{row.request.provider}/{row.request.model}") if row.request else _tr("Assistant")


def _instead_of(row: Row, model_name: ModelName) -> str:
    """Return in whose place a model answered, and why; empty if it was the one that was asked."""
    if row.request is None or not row.request.instead_of:
        return ""
    asked = model_name(row.request.instead_of)
    match row.request.instead_because:
        case ErrorKind.REFUSAL:
            return _tr("instead of {model}, which declined").format(model=asked)
        case ErrorKind.OVERLOADED:
            return _tr("instead of {model}, which was overloaded").format(model=asked)
        case _:
            return _tr("instead of {model}").format(model=asked)


def _sections(row: Row) -> tuple[Section, ...]:
    sections: list[Section] = []
    for part in row.parts:
        match part:
            case TextPart():
                sections.append(Section("text", part.text))
            case ReasoningPart():
                # Some providers tell nothing of it and only want it back.
                if part.text.strip():
                    sections.append(Section("reasoning", part.text, seconds=part.seconds))
            case MediaPart():
                pass  # shown apart, see _files
            case ToolPart():
                sections.append(Section("tool", "", _call(part)))
            case _:
                sections.append(Section("text", _tr("[something of a newer version: {type}]").format(type=part.type)))
    return tuple(sections)


def _call(part: ToolPart) -> ToolCall:
    """Return a call of a row; one that has no end there was interrupted."""
    return ToolCall(
        call_id=part.call_id,
        name=part.name,
        state="interrupted" if part.state == "pending" else part.state,
        arguments=part.input,
        output=part.output,
        kept_apart=part.output_blob.bytes if part.output_blob is not None else 0,
        seconds=part.seconds,
        diff=part.diff or "",
    )


def _divider(row: Row, boundary: Boundary) -> Item:
    """Return the line between two context windows, with what that means in words."""
    time = ""
    if row.created is not None:
        time = " · " + time_text(row.created).replace(" ", "\u00a0")
    match boundary.kind:
        case "reset":
            title, rest = (
                _tr("Started afresh"),
                _tr("the model is shown nothing from above; you can still read all of it"),
            )
        case "rollover":
            title, rest = _tr("Context window rollover"), _tr("earlier messages stay in History")
            if boundary.context_tokens is not None:
                rest = _tr("after {tokens} tokens").format(tokens=_thousands(boundary.context_tokens)) + f" · {rest}"
        case "compaction":
            title, rest = _tr("Summary"), _tr("the model goes on from a summary of what stands above")
        case _:
            title, rest = _tr("A fresh context window begins here"), ""
    text = f"{title}{time}" + (f" · {rest}" if rest else "")
    return replace(_notice(row.id, text), is_divider=True)


def _thousands(tokens: int) -> str:
    if tokens < 1_000:
        return QLocale().toString(tokens)
    return f"{QLocale().toString(round(tokens / 1_000))}k"


def _files(row: Row) -> tuple[AttachedFile, ...]:
    return tuple(
        AttachedFile(
            name=one_line(part.name or part.media_type, most_chars=MAX_NAME_CHARS),
            detail=detail_of(part),
            picture=part.blob.sha256 if part.media_type.startswith("image/") else "",
        )
        for part in row.parts
        if isinstance(part, MediaPart)
    )


def _with_note(item: Item, row: Row) -> Item:
    if row.error is not None and row.error.kind == STEP_LIMIT:
        # Nothing has failed: the person is asked whether it may go on.
        return replace(item, note=row.error.detail)
    if row.error is not None:
        note = told_error(row.error.kind, row.error.detail, is_quote=bool(row.error.is_quote))
        note += " " + (_tr("What came before is kept.") if is_sendable(row) else _tr("Your message is kept."))
        if row.error.retry_at is not None:
            local = row.error.retry_at.astimezone()
            moment = QLocale().toString(QTime(local.hour, local.minute), QLocale.FormatType.ShortFormat)
            note += " " + _tr("Try again after {moment}.").format(moment=moment)
        return replace(item, note=note, is_error=True)
    if Flag.INTERRUPTED in row.flags:
        says_something = any(section.text or section.tool for section in item.sections)
        note = _tr("Interrupted here.") if says_something else _tr("Interrupted before the first word.")
        return replace(item, note=note)
    if not row.parts:
        return replace(item, note=_tr("The model answered without a word."))
    return item


def _is_plain_damage(entry: Entry) -> bool:
    return isinstance(entry, DamagedEntry) and not entry.is_oversized


def _damage_item(entries: list[DamagedEntry]) -> Item:
    """Return one notice for neighbouring damage."""
    text = _tr("1 damaged entry is kept on disk and not shown.")
    if len(entries) > 1:
        text = _tr("{count} damaged entries are kept on disk and not shown.").format(count=len(entries))
    return _notice(f"{entries[0].file}-{entries[0].offset}", text)


def _oversized_item(entry: DamagedEntry) -> Item:
    text = _tr("1 entry of {size} is too long to be shown.").format(size=f"{entry.length / 2**20:,.1f} MB")
    return _notice(f"{entry.file}-{entry.offset}", text)


def _notice(item_id: str, text: str) -> Item:
    return Item(id=item_id, speaker=Speaker.NOTICE, sections=(Section("text", text),))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Transcript", text)
