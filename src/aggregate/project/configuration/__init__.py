"""``manual_slop.toml``: from the file to typed models, with messages that name file, key and line."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.configuration.discover import *
    from aggregate.project.configuration.edit import *
    from aggregate.project.configuration.key_position import *
    from aggregate.project.configuration.load import *
    from aggregate.project.configuration.schema import *
    from aggregate.project.configuration.template import *
else:
    __getattr__ = door(
        __name__,
        {
            "discover": "CONFIG_NAME nearest_config parse_untrusted_toml",
            "edit": "changing set_trust",
            "key_position": "line_of_key",
            "load": "MOST_BYTES Project global_config_path is_trusted load_config parse_toml read_toml_text trusted_projects unconfigured user_config validate validate_table",
            "schema": "BEADS_MODE BudgetTable Config MaskName ModelTable PersonaTable RedactionTable SendTable TaskTable TokenAmount TokenNumber ViewModeName json_schema",
            "template": "first_config",
        },
    )
