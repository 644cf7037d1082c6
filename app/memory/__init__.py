"""Memory on disk: short text files of one chat or of all, and which of them a model is shown unasked."""
