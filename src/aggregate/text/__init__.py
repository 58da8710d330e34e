"""Pure functions on strings: fences and lines."""
