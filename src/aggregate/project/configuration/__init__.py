"""Find, read, check and edit ``manual_slop.toml``; errors name file, key and line."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.configuration.edit import *
    from aggregate.project.configuration.first_config import first_config
    from aggregate.project.configuration.load import *
else:
    __getattr__ = door(
        __name__,
        {
            "edit": "changing edited set_trust",
            "first_config": "first_config",
            "load": "CONFIG_NAME MOST_BYTES Project forget_configs global_config_path is_trusted load_config nearest_config parse_toml read_toml_text unconfigured user_config validate validate_table",
        },
    )
