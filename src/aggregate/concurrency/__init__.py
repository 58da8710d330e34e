"""Threads, child processes that answer requests, and the delays between attempts."""
