"""Words for how long a model thinks. Values of `ThinkingLevel`; an empty one is the provider's own default."""

from PySide6.QtCore import QCoreApplication


def level_name(level: str) -> str:
    """Return what a choice is called in a menu; of a level nobody knows, itself."""
    names = {
        "": _tr("Standard"),
        "off": _tr("Off"),
        "low": _tr("Low"),
        "medium": _tr("Medium"),
        "high": _tr("High"),
        "max": _tr("Max"),
    }
    return names.get(level, level)


def level_word(level: str) -> str:
    """Return what stands behind the name of a model; empty for the default."""
    words = {
        "": "",
        "off": _tr("no thinking"),
        "low": _tr("low"),
        "medium": _tr("medium"),
        "high": _tr("high"),
        "max": _tr("max"),
    }
    return words.get(level, level)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Levels", text)
