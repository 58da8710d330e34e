"""The index: what follows from a file's bytes alone, computed once per content and kept outside of the project."""
