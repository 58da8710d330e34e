"""Source code: syntax trees, views and anchors of slices."""
