"""Slices of lines that are found again after edits."""
