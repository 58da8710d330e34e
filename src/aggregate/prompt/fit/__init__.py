"""Choose the lines of files within a token budget."""
