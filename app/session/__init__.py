"""One chat: its worker, its turns, its state."""
