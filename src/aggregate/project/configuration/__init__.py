"""``manual_slop.toml``: from the file to typed models, with messages that name file, key and line."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.configuration.edit import changing, set_trust
    from aggregate.project.configuration.key_position import line_of_key
    from aggregate.project.configuration.load import (
        CONFIG_NAME,
        MOST_BYTES,
        Project,
        global_config_path,
        is_trusted,
        load_config,
        nearest_config,
        parse_toml,
        parse_untrusted_toml,
        read_toml_text,
        trusted_projects,
        unconfigured,
        user_config,
        validate,
        validate_table,
    )
    from aggregate.project.configuration.schema import (
        BEADS_MODE,
        BudgetTable,
        Config,
        GoalTable,
        MaskName,
        ModelTable,
        PersonaTable,
        RedactionTable,
        SendTable,
        TaskTable,
        TokenAmount,
        TokenNumber,
        ViewModeName,
        json_schema,
    )
    from aggregate.project.configuration.template import first_config
else:
    __getattr__ = door(
        __name__,
        {
            "load": "CONFIG_NAME MOST_BYTES Project global_config_path is_trusted load_config nearest_config parse_toml parse_untrusted_toml read_toml_text trusted_projects unconfigured user_config validate validate_table",
            "edit": "changing set_trust",
            "key_position": "line_of_key",
            "schema": "BEADS_MODE BudgetTable Config GoalTable MaskName ModelTable PersonaTable RedactionTable SendTable TaskTable TokenAmount TokenNumber ViewModeName json_schema",
            "template": "first_config",
        },
    )
