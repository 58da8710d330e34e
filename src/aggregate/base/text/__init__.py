"""Pure functions on strings: lines, fences, invisible characters, generated files."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.text.columns import *
    from aggregate.base.text.generated import *
    from aggregate.base.text.headings import *
    from aggregate.base.text.invisible import *
    from aggregate.base.text.issues import *
    from aggregate.base.text.lines import *
    from aggregate.base.text.long_lines import *
    from aggregate.base.text.open_blocks import *
else:
    __getattr__ = door(
        __name__,
        {
            "headings": "as_seen plain_headings",
            "invisible": "find_invisible may_hide",
            "lines": "RARE_BREAKS common_prefix fence heading_text line_count longest_rising printable split_lines with_line_feeds",
            "issues": "clean_issue first_line heading_level with_fences without_comments",
            "long_lines": "LONG_LINE has_long_line shorten_long_lines",
            "open_blocks": "leaves_open",
            "columns": "fitted",
            "generated": "LOCK_FILES TELLING_SUFFIXES generated_reason",
        },
    )
