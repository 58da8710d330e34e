"""Folders that tools fill: dependencies, outputs, caches. Outside of git nothing else says that they are no source."""

from functools import cache
from typing import Final

from aggregate.project.paths.ignore_rules import IgnoreRules

_FOLDERS: Final = (
    # dependencies
    "node_modules", "bower_components", "jspm_packages", "venv", ".venv", "virtualenv", "site-packages", "Pods",
    ".bundle", ".yarn", ".pnpm-store", "elm-stuff", ".eggs", "*.egg-info",
    # outputs
    "build", "_build", "dist", "target", "htmlcov", "DerivedData", ".next", ".nuxt", ".svelte-kit", ".output",
    ".dart_tool", ".gradle", ".build", ".terraform", "cmake-build-*",
    # caches
    "__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".turbo",
    ".parcel-cache", ".ipynb_checkpoints", ".sass-cache",
    # other version control
    ".hg", ".svn", ".bzr", ".jj",
)  # fmt: skip
"""Names of folders, as patterns of ``.gitignore``."""
MARKERS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that mark a folder as a Python environment, and as a cache (https://bford.info/cachedir/)."""


@cache
def dependency_rules() -> IgnoreRules:
    """Return the rules that ignore folders of these names, as a ``.gitignore`` above all others would."""
    return IgnoreRules().below("", [f"{name}/" for name in _FOLDERS])
