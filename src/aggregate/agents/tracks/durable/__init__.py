"""Durable runs on DBOS: the database, its processes, their signs of life.

No other package knows of these. ``dbos_queue.open_database`` is the door.
"""
