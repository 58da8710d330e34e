"""Merge what many producers gave into one value, and say what it holds."""
