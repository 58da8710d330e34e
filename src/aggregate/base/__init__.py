"""Foundations of all packages: files, processes, redaction, texts, token counts."""
