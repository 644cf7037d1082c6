"""The history panel: every window of a chat, its items, and a search over all of them."""
