"""TOML that somebody else may have written: parsed within limits, with the line of each key."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.toml_text.key_position import *
    from aggregate.project.toml_text.toml_text import *
else:
    __getattr__ = door(
        __name__, {"key_position": "line_of_key", "toml_text": "MOST_BYTES parse_untrusted_toml"}
    )
