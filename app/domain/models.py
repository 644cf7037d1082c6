"""What is known of a model before asking it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One entry of the catalogue. Figures in tokens; None where nobody knows."""

    id: str
    provider: str
    name: str
    limit: int | None
    max_output: int | None
    encoding: str
    """tiktoken's name of the vocabulary its texts are counted with."""
    factor: float
    """Tokens of the model over tokens of `encoding` (context-windows.md, 8)."""

    @property
    def ref(self) -> str:
        """`provider/model`: how chats name the model."""
        return f"{self.provider}/{self.id}"
