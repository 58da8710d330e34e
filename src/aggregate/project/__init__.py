"""A project on disk: its configuration, files, git repository, beads, discussions and index."""
