"""Pure rules on paths: roots, globs, ignore files."""
