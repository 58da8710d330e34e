"""Sections to one prompt, and one prompt to one numbered file."""
