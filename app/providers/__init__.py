"""Models behind one protocol; one sub-package a provider, none knows another."""
