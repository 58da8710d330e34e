"""The seven views of a file: pure functions from source text to a ``View``, in one table."""
