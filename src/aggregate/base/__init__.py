"""Foundations of the other packages: files, processes, redaction, texts and token counts."""
