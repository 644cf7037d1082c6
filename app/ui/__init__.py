"""The interface; the only layer that knows Qt."""
