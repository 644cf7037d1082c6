"""Writes `resources/notices.txt`: the libraries of the runtime lock, each with its licence.

Run in an environment that has them: `python packaging/take_notices.py`.
"""

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
Muntin is free software under the MIT licence.

It uses Qt and PySide6, (C) The Qt Company Ltd. and other contributors, under the GNU Lesser General Public \
License, version 3 (LGPL-3.0). They are used as separate, unmodified libraries, which you may replace with versions \
of your own. Their source code is offered at code.qt.io and download.qt.io; the text of the licence is at \
gnu.org/licenses/lgpl-3.0.html.

Icons: Lucide (ISC). Vocabulary o200k_base: OpenAI tiktoken (MIT). Figures of models: litellm, genai-prices (MIT).

Libraries:
"""


def main() -> None:
    lock = (ROOT / "requirements" / "runtime.txt").read_text("utf-8")
    names = sorted(set(re.findall(r"^([A-Za-z0-9_.-]+)==", lock, re.MULTILINE)), key=str.lower)
    lines = [line for name in names if (line := _line(name))]
    (ROOT / "resources" / "notices.txt").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")


def _line(name: str) -> str:
    try:
        meta = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        # Only on another system.
        return ""
    stated = meta.get("License-Expression") or _from_classifiers(meta.get_all("Classifier") or [])
    licence = stated or (meta.get("License") or "see its project").splitlines()[0][:60]
    return f"  {meta['Name']} {meta['Version']}: {licence}"


def _from_classifiers(classifiers: list[str]) -> str:
    return ", ".join(text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::"))


if __name__ == "__main__":
    main()
