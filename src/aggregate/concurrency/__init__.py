"""Threads, and child processes that answer requests."""
