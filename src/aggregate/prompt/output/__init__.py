"""A finished prompt: its numbered files, its parts and its source map."""
