"""Context presets: stored in TOML, applied, watched."""
