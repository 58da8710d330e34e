"""Pure functions on strings: lines, fences, what a text hides, which files a program has written."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.text.columns import *
    from aggregate.base.text.generated import *
    from aggregate.base.text.lines import *
else:
    __getattr__ = door(
        __name__,
        {
            "lines": "RARE_BREAKS common_prefix fence find_invisible heading_text leaves_open line_count may_hide printable split_lines",
            "columns": "fitted",
            "generated": "LOCK_FILES TELLING_SUFFIXES generated_reason",
        },
    )
