"""Where in the project an agent looks: folders and files as agents write them."""

import os
import posixpath


def project_path(path: str, root: str) -> str:
    """Return a path as the project's files have it, ``""`` for the whole project.

    Args:
        path: Relative to the project's root, with or without ``./`` or a slash before it, or absolute within it.
        root: The absolute path of that root.
    """
    path = path.replace("\\", "/")
    top = root.replace(os.sep, "/").rstrip("/")
    if path == top or path.startswith(f"{top}/"):
        path = path[len(top) :]
    relative = posixpath.normpath(path.strip("/") or ".")
    return "" if relative == "." else relative


def is_below(path: str, place: str) -> bool:
    """Tell whether a file of the project is at or below a place."""
    return not place or path == place or path.startswith(f"{place}/")


def no_file_below(path: str) -> str:
    """Return the sentence that nothing of the project is at or below what was asked for."""
    return (
        f"no file of the project is at or below {path or 'its folder'}: "
        "a path is relative to the project's root"
    )
