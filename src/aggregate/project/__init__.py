"""A project's configuration, files, git repository, beads, discussions and index."""
