"""The index: what was computed from files' contents, kept for the next run."""
