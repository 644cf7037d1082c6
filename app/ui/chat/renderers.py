"""What a first reply is shown with, imported before it is needed: here it costs the interface no frame."""


def prepare_renderers() -> None:
    """Import what shows Markdown and code; for any thread but the interface's."""
    import markdown_it  # noqa: F401 - it is the import that counts
    import pygments  # noqa: F401

    import app.ui.chat.markdown_parser  # noqa: F401
    from app.ui.chat.highlight import prepare

    prepare()
