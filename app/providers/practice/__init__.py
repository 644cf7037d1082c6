"""The built-in Practice model: offline, rule-based, honest."""
