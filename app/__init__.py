"""Muntin: a desktop chat with AI models whose context windows roll over."""

from typing import Final

VERSION: Final = "0.1.0"
APP_NAME: Final = "Muntin"
APP_ID: Final = "io.github.muntin.Muntin"
