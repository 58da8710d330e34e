"""The files that a ranking compares, and their order by a task."""
