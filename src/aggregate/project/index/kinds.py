"""What is kept, by kind; and the version of a kind, which follows from the code that computes it."""

import os
import sys
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).parents[2]
_SOURCES = (".py", ".scm", ".json", ".toml", ".txt")
_BINARIES = (".so", ".pyd", ".dylib")


class Kind(NamedTuple):
    name: str
    version: str


@cache
def code_version(modules: tuple[str, ...], *, installed: tuple[str, ...] = ()) -> str:
    # The interpreter's minor version stands for its tables of Unicode too.
    digest = sha256(f"{sys.implementation.cache_tag}".encode())
    try:
        for module in modules:
            digest.update(_source_digest(module))
        for name in installed:
            digest.update(_installed_identity(name).encode())
    except (OSError, ImportError, ValueError):
        return ""
    return digest.hexdigest()[:32]


@cache
def _source_digest(module: str) -> bytes:
    place = _PACKAGE.joinpath(*module.split("."))
    files = [place.with_name(f"{place.name}.py")]
    if place.is_dir():
        files = sorted(path for path in place.rglob("*") if path.name.endswith(_SOURCES))
    digest = sha256()
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.digest()


@cache
def _installed_identity(name: str) -> str:
    """Return what changes whenever a package is installed anew: its version, and size and time of its binaries."""
    spec = find_spec(name)
    if spec is None or not spec.origin:
        raise ImportError(name)
    place = Path(spec.origin)
    folder = place.parent if spec.submodule_search_locations else None
    site = str((folder or place).parent)
    parts = [entry for entry in _distributions(site) if entry.startswith(f"{name}-")]
    binaries = sorted(os.scandir(folder), key=lambda entry: entry.name) if folder else [place]
    for entry in binaries:
        if entry.name.endswith(_BINARIES):
            info = entry.stat()
            parts.append(f"{entry.name}:{info.st_size}:{info.st_mtime_ns}")
    if not parts:
        raise ImportError(name)
    return "\0".join((name, *parts))


@cache
def _distributions(site: str) -> tuple[str, ...]:
    return tuple(
        sorted(entry.name for entry in os.scandir(site) if entry.name.endswith(".dist-info"))
    )
