"""What a first reply is shown with, imported before it is needed: here it costs the interface no frame.

Only imported: making the lexers too would take Python from the interface just when the first letters are typed.
"""


def prepare_renderers() -> None:
    """Import what shows Markdown and code; for any thread but the interface's."""
    import markdown_it  # noqa: F401 - it is the import that counts
    import pygments.lexers.python  # noqa: F401

    import app.ui.chat.markdown_parser  # noqa: F401
