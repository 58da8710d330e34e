"""Everything that is read: files, git's lists, beads, history."""
