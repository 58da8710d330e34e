"""Durable runs: a database, worker processes, and signs of life to detect dead ones.

DBOS is the library for it; no other package knows of it. ``dbos_queue.open_database`` opens a database.
"""
