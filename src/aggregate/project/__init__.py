"""A project's configuration, files, git repository, beads, discussions and index."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset, ContextPresetManager
    from aggregate.project.table import as_data
    from aggregate.project.tables import Config, json_schema
else:
    __getattr__ = door(
        __name__,
        {
            "presets": "ContextPreset ContextPresetManager",
            "table": "as_data",
            "tables": "Config json_schema",
        },
    )
