"""Source code: syntax trees, views of files, and anchors of slices."""
