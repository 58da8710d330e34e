"""Durable runs on DBOS: everything that knows of the database, its processes and their leases."""
