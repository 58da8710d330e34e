"""The command line."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ferry.client import Client
from ferry.errors import FerryError


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch the addresses and return the exit code."""
    parser = argparse.ArgumentParser(prog="ferry")
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("fetch", help="fetch files into a folder")
    fetch.add_argument("addresses", nargs="+")
    fetch.add_argument("--into", type=Path, default=Path())
    options = parser.parse_args(arguments)
    return _fetch(options.addresses, options.into)


def _fetch(addresses: Sequence[str], folder: Path) -> int:
    client = Client(folder)
    failed = 0
    for address in addresses:
        try:
            print(client.fetch(address))
        except FerryError as error:
            print(error, file=sys.stderr)
            failed += 1
    return 1 if failed else 0
