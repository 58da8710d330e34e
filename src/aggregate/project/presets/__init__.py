"""Context presets: stored in TOML, applied, watched."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.presets.store import *
else:
    __getattr__ = door(
        __name__, {"store": "ContextPresetManager TABLE preset_of_table preset_toml"}
    )
