"""Where the faults of the wire fall: events and faults become one list of pieces, waits and cuts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tests.fakes.farend.rendering import Op
from tests.fakes.farend.script import Cut, Drip, Drop, Pause, Repeat, Split, Stall, Swap, WireFault


class FaultOutOfReach(ValueError):
    """A fault was to strike at a byte or event that the body doesn't have."""


def before_headers(faults: Iterable[WireFault]) -> list[Stall | Cut]:
    """The faults that strike before anything is sent; a stall or cut without a moment is one of them."""
    return [fault for fault in faults if isinstance(fault, Stall | Cut) and _is_before_headers(fault)]


def in_headers(faults: Iterable[WireFault]) -> Cut | None:
    """The cut within the status line and headers, if there is one."""
    cuts = (fault for fault in faults if isinstance(fault, Cut) and fault.in_headers is not None)
    return next(cuts, None)


def lay_out(ops: Sequence[Op], faults: Sequence[WireFault]) -> list[Op]:
    """Put the faults of the body at their places; what is left are pieces to send, waits and cuts."""
    laid = _rearranged(list(ops), faults)
    placed = [fault for fault in faults if isinstance(fault, Stall | Cut) and not _is_before_headers(fault)]
    for strike in placed:
        if strike.after_events is not None:
            laid.insert(_place_of_event(laid, strike.after_events), replace(strike, after_events=None))
        elif strike.after_bytes is not None:
            laid = _insert_at_byte(laid, strike.after_bytes, replace(strike, after_bytes=None))
        elif isinstance(strike, Stall):
            laid.insert(0, strike)
    for fault in faults:
        match fault:
            case Split(at, every):
                laid = _split(laid, {*at, *range(every, _size(laid), every)} if every else set(at))
            case Drip(chunk_bytes, seconds):
                laid = _split(laid, set(range(chunk_bytes, _size(laid), chunk_bytes)))
                laid = [op for piece in laid for op in _followed_by(piece, Pause(seconds))]
    return laid


def _is_before_headers(fault: Stall | Cut) -> bool:
    if fault.before_headers:
        return True
    later = fault.after_headers if isinstance(fault, Stall) else fault.in_headers is not None
    return not later and fault.after_bytes is None and fault.after_events is None


def _rearranged(ops: list[Op], faults: Sequence[WireFault]) -> list[Op]:
    for fault in faults:
        places = [place for place, op in enumerate(ops) if isinstance(op, bytes)]
        try:
            match fault:
                case Swap(one, other):
                    ops[places[one]], ops[places[other]] = ops[places[other]], ops[places[one]]
                case Drop(event):
                    del ops[places[event]]
                case Repeat(event):
                    ops.insert(places[event], ops[places[event]])
        except IndexError:
            raise FaultOutOfReach(f"{fault}: the body has {len(places)} events") from None
    return ops


def _place_of_event(ops: list[Op], count: int) -> int:
    if count == 0:
        return 0
    places = [place for place, op in enumerate(ops) if isinstance(op, bytes)]
    if count > len(places):
        raise FaultOutOfReach(f"after {count} events: the body has {len(places)}")
    return places[count - 1] + 1


def _insert_at_byte(ops: list[Op], offset: int, fault: Stall | Cut) -> list[Op]:
    if offset > _size(ops):
        raise FaultOutOfReach(f"after {offset} bytes: the body has {_size(ops)}")
    pieces = _split(ops, {offset})
    sent = 0
    for place, op in enumerate(pieces):
        if sent == offset:
            return [*pieces[:place], fault, *pieces[place:]]
        sent += len(op) if isinstance(op, bytes) else 0
    return [*pieces, fault]


def _split(ops: list[Op], offsets: set[int]) -> list[Op]:
    pieces: list[Op] = []
    start = 0
    for op in ops:
        if not isinstance(op, bytes):
            pieces.append(op)
            continue
        ends = sorted({offset - start for offset in offsets if start < offset < start + len(op)} | {len(op)})
        begin = 0
        for end in ends:
            pieces.append(op[begin:end])
            begin = end
        start += len(op)
    return pieces


def _size(ops: list[Op]) -> int:
    return sum(len(op) for op in ops if isinstance(op, bytes))


def _followed_by(op: Op, pause: Pause) -> list[Op]:
    return [op, pause] if isinstance(op, bytes) else [op]
