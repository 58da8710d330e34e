"""Tools in a folder of Python files: every ``@tool`` at the top level of one."""

import hashlib
import os
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from aggregate.agents.tools.tool import Tool
from aggregate.base.disk import TOOL_MODULES, open_regular
from aggregate.base.errors import ToolError


def tools_in(folder: Path) -> Iterator[Tool]:
    """Yield the tools of each file, in order of file names; files that begin with ``_`` are left alone.

    Raises:
        ToolError: There is no such folder, or a file cannot be run.
    """
    if not folder.is_dir():
        raise ToolError(f"{folder}: there is no such folder of tools")
    for path in sorted(folder.glob("*.py")):
        if path.name.startswith("_"):
            continue
        module = _load_module(path)
        for value in vars(module).values():
            # A tool that a file imports from a neighbour belongs to the neighbour.
            if (
                isinstance(value, Tool)
                and getattr(value.func, "__module__", None) == module.__name__
            ):
                yield value


def _load_module(path: Path) -> ModuleType:
    full_path = str(path.resolve()).encode("utf-8", "surrogateescape")
    digest = hashlib.md5(full_path, usedforsecurity=False).hexdigest()
    try:
        os.close(open_regular(path)[0])
    except OSError as error:
        raise ToolError(f"{path}: it cannot be run: {error.strerror or error}") from None
    name = f"{TOOL_MODULES}{digest[:12]}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ToolError(f"{path}: it is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # type hints are looked up there
    try:
        spec.loader.exec_module(module)
    except (
        Exception,
        SystemExit,
    ) as error:  # the file is the user's: whatever it raises is theirs to see
        del sys.modules[name]
        raise ToolError(f"{path}: it cannot be run: {type(error).__name__}: {error}") from error
    return module
