"""Choose which lines of files to show within a token budget."""
