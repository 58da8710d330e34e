"""Tests of redaction."""
