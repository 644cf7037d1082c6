"""Chats on their way out of Muntin, as text for other programs."""
