"""Merge what many producers gave into one value, and say what it holds."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.results.compile import compile_results
    from aggregate.agents.results.merge import merge_outputs
else:
    __getattr__ = door(
        __name__,
        {
            "compile": "compile_results",
            "merge": "merge_outputs",
        },
    )
