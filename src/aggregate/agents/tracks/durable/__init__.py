"""Durable runs on DBOS: the only package that knows of the database, its processes and their leases.

``dbos_queue.open_database`` is its door; ``database`` says which database that is.
"""
