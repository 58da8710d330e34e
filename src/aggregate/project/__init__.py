"""A project's configuration, files, git repository, beads, discussions and index."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset, ContextPresetManager
    from aggregate.project.tables import Config, as_data, json_schema
else:
    __getattr__ = door(
        __name__,
        {"presets": "ContextPreset ContextPresetManager", "tables": "Config as_data json_schema"},
    )
