"""Lazy doors: a package's ``__init__`` says what it offers, and a name is imported once somebody asks for it."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

TYPE_CHECKING = False  # for type checkers true, by its name: a door has one import


def door(package: str, offered: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: ``offered`` says by module what is taken from there, in one text."""
    modules = {name: module for module, names in offered.items() for name in names.split()}

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # Python sets each module that it has loaded here, also one that is called like what it offers.
            if name not in modules or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    def take(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
        if (module := modules.get(name)) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module}"), name)
        setattr(sys.modules[package], name, value)
        return value

    sys.modules[package].__class__ = Package
    return take
