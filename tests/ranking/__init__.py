"""Tests of ranking files and definitions for a question."""
