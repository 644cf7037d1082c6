"""The words of the field as types; does no I/O and knows nothing else of ours."""
