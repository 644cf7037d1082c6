"""The panel in which a chat's model is chosen."""
