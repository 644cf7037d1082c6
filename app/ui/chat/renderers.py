"""What a first reply is shown with, made ready before it is needed: here it costs the interface no frame."""

from typing import Final

LANGUAGE: Final = "python"
"""The one most code is in. All common ones would keep Python busy just when the first letters are typed."""


def prepare_renderers() -> None:
    """Import what shows Markdown and code; for any thread but the interface's."""
    import markdown_it  # noqa: F401 - it is the import that counts

    import app.ui.chat.markdown_parser  # noqa: F401
    from app.ui.chat.highlight import prepare

    prepare(LANGUAGE)
