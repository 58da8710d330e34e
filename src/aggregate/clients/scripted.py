"""The scripted client under its name of the last release."""

from aggregate.deprecation import renamed

__getattr__ = renamed(__name__, {"scripted": "aggregate.clients.scripted_client:scripted_client"})
