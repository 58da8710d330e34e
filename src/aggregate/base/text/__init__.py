"""Pure functions on strings: fences and lines."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.text.columns import BAR, bar, fitted
    from aggregate.base.text.fences import fence, heading_text
    from aggregate.base.text.generated import LOCK_FILES, TELLING_SUFFIXES, generated_reason
    from aggregate.base.text.grouped_warnings import group_warnings
    from aggregate.base.text.invisible import find_invisible, may_hide
    from aggregate.base.text.line_diff import patched, unified_diff
    from aggregate.base.text.lines import common_prefix, line_count, split_lines
    from aggregate.base.text.marked_block import BrokenBlockError, with_block, without_block
    from aggregate.base.text.open_blocks import leaves_open
    from aggregate.base.text.result_text import result_text, value_text
    from aggregate.base.text.shorten import cut, first_of, shorten
    from aggregate.base.text.suggestions import did_you_mean, nearest_path, path_meant, short_list
    from aggregate.base.text.terminal import printable
    from aggregate.base.text.turns import SpokenTurn, fenced_lines, spoken_turn, turn_texts
else:
    __getattr__ = door(
        __name__,
        {
            "columns": "BAR bar fitted",
            "fences": "fence heading_text",
            "generated": "LOCK_FILES TELLING_SUFFIXES generated_reason",
            "grouped_warnings": "group_warnings",
            "invisible": "find_invisible may_hide",
            "line_diff": "patched unified_diff",
            "lines": "common_prefix line_count split_lines",
            "marked_block": "BrokenBlockError with_block without_block",
            "open_blocks": "leaves_open",
            "result_text": "result_text value_text",
            "shorten": "cut first_of shorten",
            "suggestions": "did_you_mean nearest_path path_meant short_list",
            "terminal": "printable",
            "turns": "SpokenTurn fenced_lines spoken_turn turn_texts",
        },
    )
