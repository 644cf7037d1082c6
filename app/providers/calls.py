"""Ids and names of tool calls as a vendor takes them, whichever model made the calls. No I/O."""

import hashlib
import re
from typing import Final

LONGEST_NAME_CHARS: Final = 64
_MISFIT: Final = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_CHARS: Final = 9


def fit_name(name: str) -> str:
    """Return the name of a call as Anthropic and OpenAI take it; models make up other ones."""
    return _MISFIT.sub("_", name)[:LONGEST_NAME_CHARS] or "unnamed"


class CallIds:
    """Ids of calls within one request: fit for its vendor, each only once, the same in every request.

    Calls of another dialect's model may have any id; some servers begin anew with every reply.
    """

    def __init__(self, fit: re.Pattern[str]) -> None:
        """`fit` matches what the vendor takes. Nine letters and digits, which stand in for others, always must be."""
        self._fit = fit
        self._given: set[str] = set()

    def next(self, call_id: str) -> str:
        """Return the id of the next call."""
        wanted, count = call_id, 1
        while (given := self._fitting(wanted)) in self._given:
            count += 1
            wanted = f"{call_id}_{count}"
        self._given.add(given)
        return given

    def _fitting(self, call_id: str) -> str:
        if self._fit.fullmatch(call_id):
            return call_id
        return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
