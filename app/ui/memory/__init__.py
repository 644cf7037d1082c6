"""The memory dock: what models keep for all chats and for the open one, to read and to change."""
