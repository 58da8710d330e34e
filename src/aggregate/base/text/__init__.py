"""Pure functions on strings: lines, fences, invisible characters, generated files."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.text.generated_files import *
    from aggregate.base.text.invisible import *
    from aggregate.base.text.issues import *
    from aggregate.base.text.lines import *
    from aggregate.base.text.markdown import *
else:
    __getattr__ = door(
        __name__,
        {
            "generated_files": "LOCK_FILES TELLING_SUFFIXES generated_reason",
            "invisible": "find_invisible heading_text may_hide printable",
            "issues": "clean_issue first_line heading_level without_comments",
            "lines": "LONG_LINE common_prefix has_long_line line_count longest_rising shorten_long_lines split_lines with_line_feeds",
            "markdown": "RARE_BREAKS as_seen fence leaves_open plain_headings with_fences",
        },
    )
