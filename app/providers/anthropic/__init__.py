"""Anthropic's Messages, and servers that speak it."""
