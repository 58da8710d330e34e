"""Durable runs: a database, worker processes, and signs of life.

Signs of life show which workers are dead. DBOS is the library for all this; no other package imports DBOS.
``dbos_queue.open_database`` opens a database.
"""
