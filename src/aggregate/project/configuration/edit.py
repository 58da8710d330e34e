"""Edit configurations, keeping the bytes and comments of unchanged parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import tomlkit

from aggregate.base.disk.reading import project_root, real_path
from aggregate.base.disk.writing import exclusive_access, replace_text
from aggregate.base.errors import OutputError
from aggregate.project.configuration.load import (
    global_config_path,
    load_config,
    parse_toml,
    read_toml_text,
    trusted_projects,
)

_WAIT_SECONDS: Final = 5.0  # for other writers, which hold the lock during one change


@contextmanager
def changing(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_access(path, seconds=_WAIT_SECONDS):
            yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def open_document(path: Path) -> tomlkit.TOMLDocument:
    if not path.exists():
        return tomlkit.document()
    text = read_toml_text(path)
    parse_toml(text, path)  # for its error message
    return tomlkit.parse(text)


def write_document(path: Path, document: tomlkit.TOMLDocument) -> None:
    replace_text(path, tomlkit.dumps(document))


def set_trust(folder: Path, *, trusted: bool) -> str:
    """Trust or distrust the project around a folder; return its root.

    A trusted project may read files outside of it.
    """
    root = project_root(folder)
    path = global_config_path()
    with changing(path):
        if path.exists():
            load_config(path)  # raises a detailed error if it is invalid
        others = (p for p in trusted_projects() if real_path(Path(p).expanduser()) != root)
        projects = [*others, *([root] if trusted else [])]
        document = open_document(path)
        array = tomlkit.array().multiline(multiline=True)
        array.extend(projects)
        document.setdefault("trust", tomlkit.table())["projects"] = array
        write_document(path, document)
    return root
