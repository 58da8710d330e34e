"""Short messages: abbreviated texts, table cells and install commands."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any, Final

_PACKAGE: Final = "manual-slop"
_MOST = 20  # names in a list


def short_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"[... {len(text) - most:,} of {len(text):,} characters ...]"
    return f"{text[: most - tail]} {left_out} {text[len(text) - tail :]}"


def fitted(name: str, width: int) -> str:
    """Pad or cut a table's cell to a width on the terminal."""
    from rich.cells import cell_len, set_cell_size  # the rest of its tables starts too slowly

    missing = width - cell_len(name)
    return name + " " * missing if missing >= 0 else set_cell_size(name, width - 1) + "…"


def install_command(extra: str, *, prefix: str = sys.prefix, origin: str | None = None) -> str:
    """Return the shell command installing an extra of this package.

    Args:
        extra: Name of the extra (a group of optional dependencies).
        prefix: Folder of the Python environment.
        origin: Content of ``direct_url.json`` (PEP 610), by default this package's.
    """
    from importlib.metadata import PackageNotFoundError, distribution  # not in ordinary runs
    from importlib.util import find_spec

    if origin is None:
        try:
            origin = distribution(_PACKAGE).read_text("direct_url.json")
        except (PackageNotFoundError, OSError, ValueError):
            origin = ""
    source = json.loads(origin or "{}")
    editable = ["-e"] if source.get("dir_info", {}).get("editable") else []
    requirement = _requirement(extra, source)
    records = os.listdir(prefix)  # noqa: PTH208 - names alone
    if "pipx_metadata.json" in records:
        words = ["pipx", "install", "--force", *editable, requirement]
    elif "uv-receipt.toml" in records:
        words = ["uv", "tool", "install", "--force", *editable, requirement]
    elif find_spec("pip") is None:
        words = ["uv", "pip", "install", "--python", sys.executable, *editable, requirement]
    else:
        words = [sys.executable, "-m", "pip", "install", *editable, requirement]
    return shlex.join(words)


def _requirement(extra: str, source: dict[str, Any]) -> str:
    from urllib.parse import unquote, urlsplit

    url = str(source.get("url", ""))
    name = f"{_PACKAGE}[{extra}]"
    if "dir_info" in source:
        return f"{unquote(urlsplit(url).path)}[{extra}]"
    if "vcs_info" in source:
        return f"{name} @ {source['vcs_info']['vcs']}+{url}"
    return f"{name} @ {url}" if url else name
