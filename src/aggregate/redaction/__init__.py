"""Secrets in text: found by a table of rules, and replaced in their place."""
