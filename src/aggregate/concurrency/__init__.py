"""Threads, and the delays between attempts."""
