"""A second Muntin at the same chat: `python -m tests.unit.tools.history_process FOLDER`, a JSON order a line.

`{"say": text}` appends; anything else is asked of `session_history`, whose answer comes back.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.unit.tools.history_chat import HistoryChat


async def _obey(chat: HistoryChat) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "say" in order:
            chat.last_seq = chat.store.repair()
            answer = chat.say(order["say"], id=f"other{chat.last_seq}")
        else:
            answer = await chat.call(**order)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_obey(HistoryChat(Path(sys.argv[1]))))
