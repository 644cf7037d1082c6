"""The settings window: one page a module."""
