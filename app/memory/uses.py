"""How often a model has used each memory, and which ones are pinned: `.uses.json` beside the memories of a scope.

Comfort, not content: a file that is missing, damaged or can't be read counts as empty.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from app.disk import write_atomic

USES_FILE: Final = ".uses.json"
_MOST_BYTES: Final = 2_000_000
_MOST_USES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Use:
    """What is kept of one memory."""

    uses: int = 0
    last_used: datetime | None = None
    is_pinned: bool = False

    def once_more(self, now: datetime) -> "Use":
        """Return it after one more use."""
        return replace(self, uses=min(self.uses + 1, _MOST_USES), last_used=now)


UNUSED: Final = Use()


def read_uses(root: Path) -> dict[str, Use]:
    """Return what is kept, by `MemoryPath.key`."""
    try:
        with (root / USES_FILE).open("rb") as file:
            raw = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    files = raw.get("files") if isinstance(raw, dict) else None
    if not isinstance(files, dict):
        return {}
    found = {key: _use_of(value) for key, value in files.items() if isinstance(value, dict)}
    return {key: use for key, use in found.items() if use != UNUSED}


def write_uses(root: Path, uses: Mapping[str, Use]) -> None:
    """Keep `uses`. Raises StorageError."""
    files = {key: _kept(use) for key, use in uses.items() if use != UNUSED}
    data = json.dumps({"v": 1, "files": files}, ensure_ascii=False, separators=(",", ":")).encode()
    write_atomic(root / USES_FILE, data, durable=False, what="What is known of this memory")


def _kept(use: Use) -> dict[str, object]:
    kept: dict[str, object] = {"uses": use.uses}
    if use.last_used is not None:
        kept["last_used"] = use.last_used.isoformat()
    if use.is_pinned:
        kept["pinned"] = True
    return kept


def _use_of(raw: Mapping[str, object]) -> Use:
    uses, last_used = raw.get("uses"), None
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        last_used = datetime.fromisoformat(str(raw.get("last_used")))
        last_used = last_used.astimezone(UTC) if last_used.tzinfo is not None else None
    is_number = isinstance(uses, int) and not isinstance(uses, bool)
    return Use(
        uses=min(max(0, uses), _MOST_USES) if isinstance(uses, int) and is_number else 0,
        last_used=last_used,
        is_pinned=raw.get("pinned") is True,
    )
