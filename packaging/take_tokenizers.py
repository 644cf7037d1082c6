"""Takes the tokenizer vocabularies out of a published package into `resources/tokenizers`.

Run by hand when a vocabulary is added: `python packaging/take_tokenizers.py`. The files are
committed, because tiktoken would fetch them from the network at first use.
"""

import hashlib
import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "llama-index-core"
VERSION = "0.14.25"
FOLDER_IN_WHEEL = "llama_index/core/_static/tiktoken_cache"
TARGET = Path(__file__).resolve().parent.parent / "resources" / "tokenizers"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One file; `name` is the one tiktoken looks for in its cache folder."""

    encoding: str
    name: str
    bytes: int
    sha256: str


VOCABULARIES = (
    Vocabulary(
        encoding="o200k_base",
        name="fb374d419588a4632f3f557e76b4b70aebbca790",
        bytes=3_613_922,
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
)


def main() -> int:
    """Write every vocabulary, or nothing at all if one of them is not the expected bytes."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = _download(Path(folder))
        with zipfile.ZipFile(wheel) as archive:
            contents = {item: archive.read(f"{FOLDER_IN_WHEEL}/{item.name}") for item in VOCABULARIES}
    wrong = [item.encoding for item, data in contents.items() if not _is_expected(data, item)]
    if wrong:
        print(f"Not the expected bytes: {', '.join(wrong)}. Nothing was written.", file=sys.stderr)
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    for item, data in contents.items():
        (TARGET / item.name).write_bytes(data)
        print(f"{item.encoding}: {len(data):,} bytes, sha256 {item.sha256}")
    return 0


def _download(folder: Path) -> Path:
    """Fetch the wheel with the pip of a throw-away environment; ours is installed without pip."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run(
        [python, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", f"{PACKAGE}=={VERSION}"],
        cwd=folder,
        check=True,
    )
    return next(folder.glob("*.whl"))


def _is_expected(data: bytes, item: Vocabulary) -> bool:
    return len(data) == item.bytes and hashlib.sha256(data).hexdigest() == item.sha256


if __name__ == "__main__":
    sys.exit(main())
