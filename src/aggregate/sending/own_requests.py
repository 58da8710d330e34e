"""Which records of sent requests this user has written: one in a project may have come with it, from anybody.

What a record says decides what is expected of a cache, how files are laid out, and how long entries live, which is
paid for. So only those are believed whose hash stands in the user's own state folder, or whose project is trusted.
"""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Final

from aggregate.base.disk import (
    STATE_VARIABLE,
    exclusive_access,
    private_folder,
    read_text,
    replace_own,
    state_folder,
    user_state_folder,
)
from aggregate.base.errors import OutputError

_FILE: Final = "sent_requests.json"
_MOST: Final = 200
"""Records of one project that are remembered: ten times as many as are looked through for the next request."""


def record_hash(text: str) -> str:
    """Return the hash by which a record is remembered: 32 hexadecimal digits, which nobody finds a second text for."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def own_hashes(output_dir: Path) -> tuple[str, ...]:
    """Return the hashes of the records written to ``output_dir``, oldest first; none where that is damaged."""
    try:
        hashes = json.loads(read_text(state_folder(output_dir) / _FILE))
        return tuple(str(recorded) for recorded in hashes)
    except (OSError, ValueError, TypeError, RecursionError):
        return ()


def remember_record(output_dir: Path, text: str) -> str:
    """Remember a record as this user's; return why that cannot be done, ``""`` where it is.

    The next request goes on from none then.
    """
    if user_state_folder() is None:
        return f"there is no home folder: set {STATE_VARIABLE}"
    path = state_folder(output_dir) / _FILE
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            hashes = dict.fromkeys((*own_hashes(output_dir), record_hash(text)))
            replace_own(path, json.dumps([*hashes][-_MOST:], indent=0) + "\n")
    except OSError as error:
        return f"cannot write {path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""
