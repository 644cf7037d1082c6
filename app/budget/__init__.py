"""Counting tokens and what may be spent of them."""
