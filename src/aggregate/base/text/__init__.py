"""Pure functions on strings: fences and lines."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.text.columns import *
    from aggregate.base.text.generated import *
    from aggregate.base.text.line_diff import *
    from aggregate.base.text.lines import *
    from aggregate.base.text.messages import *
    from aggregate.base.text.result_text import *
    from aggregate.base.text.turns import *
else:
    __getattr__ = door(
        __name__,
        {
            "lines": "common_prefix fence find_invisible heading_text line_count may_hide printable split_lines",
            "columns": "BAR bar fitted",
            "generated": "LOCK_FILES TELLING_SUFFIXES generated_reason",
            "line_diff": "patched unified_diff",
            "messages": "cut did_you_mean first_of group_warnings nearest_path path_meant short_list shorten",
            "result_text": "result_text value_text",
            "turns": "SpokenTurn fenced_lines leaves_open spoken_turn turn_texts",
        },
    )
