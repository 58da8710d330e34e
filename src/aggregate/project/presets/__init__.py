"""Context presets: stored in TOML, applied, watched."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.presets.preset import *
    from aggregate.project.presets.store import *
else:
    __getattr__ = door(
        __name__,
        {
            "preset": "ContextFileEntry ContextPreset",
            "store": "ContextPresetManager TABLE preset_of_table preset_toml",
        },
    )
