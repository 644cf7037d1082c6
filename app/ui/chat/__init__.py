"""The transcript and the composer of one chat."""
