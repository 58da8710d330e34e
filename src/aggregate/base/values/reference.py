"""References to values on disk: a type of its own, so that nothing an agent returns can be taken for one."""

from pathlib import PurePath
from typing import Any, Final, TypeGuard

CACHE_DIR: Final = "state/data_cache"
"""Where large values are kept."""
THRESHOLD: Final = 5000
"""Bytes of JSON from which a value is written to disk (rules D-9, X-1)."""
REFERENCE_FORMAT: Final = "disk_reference"
"""The ``_format`` of a value that was written to disk (rule D-42)."""


class DataReference(dict[str, Any]):
    """What stands for a value that this program wrote to disk: its id, file, size and summary (rule D-42).

    Only ``prompt.references`` makes them. A mapping with the same keys, such as an agent can return, is data
    like any other: its path and hint are believed by nobody.
    """

    __slots__ = ()

    @property
    def ref_id(self) -> str:
        """What ``load_data_reference`` takes."""
        return str(self["_ref_id"])

    @property
    def place(self) -> str:
        """Where the whole value is and how to get it, in two sentences.

        In the usual folder the path is relative, so that a prompt has the same bytes on every machine.
        """
        path = PurePath(self["_data_file"])
        usual = PurePath(CACHE_DIR)
        shown = path.relative_to(path.parents[2]) if path.parent.parts[-2:] == usual.parts else path
        return f"{shown.as_posix()}, {self['_size_kb']} KB. {self['_usage_hint']}"


def is_reference(value: object) -> TypeGuard[DataReference]:
    """Return whether ``value`` is a reference that this program made."""
    return type(value) is DataReference
