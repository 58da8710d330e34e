"""Editing the list of projects that the user trusts, in the user's own configuration."""

from pathlib import Path

import tomlkit

from aggregate.config.load import load_config
from aggregate.config.user import global_config_path, trusted_projects
from aggregate.disk.roots import project_root, real_path
from aggregate.disk.writing import replace_text
from aggregate.presets.store import open_document

TABLE, KEY = "trust", "projects"


def set_trust(folder: Path, *, trusted: bool) -> str:
    """Let the project around ``folder`` read files outside of it, or no longer; return its root.

    The rest of the user's configuration keeps its bytes.

    Raises:
        ConfigError: The user's configuration cannot be used.
        OutputError: It cannot be written.
    """
    root = project_root(folder)
    path = global_config_path()
    if path.exists():
        load_config(path)  # explains what is wrong with it
    known = [one for one in trusted_projects() if real_path(Path(one).expanduser()) != root]
    document = open_document(path)
    table = document.setdefault(TABLE, tomlkit.table())
    entries = tomlkit.array().multiline(multiline=True)
    entries.extend([*known, root] if trusted else known)
    table[KEY] = entries
    replace_text(path, tomlkit.dumps(document))
    return root
