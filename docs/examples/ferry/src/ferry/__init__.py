"""Carry files from web servers to a folder."""

from ferry.client import Client
from ferry.errors import FerryError

__all__ = ["Client", "FerryError"]
