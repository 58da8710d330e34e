"""Lazy imports: a package's ``__init__`` lists its public names and imports each on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

TYPE_CHECKING = False  # type checkers take this name for true


def door(package: str, names_by_module: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` function of a package.

    ``names_by_module`` has the public names of each module, separated by spaces.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names.split()}

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # Python sets each loaded submodule here, which must not replace an equal name.
            if name not in modules or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    def load(name: str) -> Any:  # noqa: ANN401 - any value of a module
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    sys.modules[package].__class__ = Package
    return load
