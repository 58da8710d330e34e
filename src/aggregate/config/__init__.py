"""``manual_slop.toml``: from the file to typed models, with messages that name file, key and line."""
