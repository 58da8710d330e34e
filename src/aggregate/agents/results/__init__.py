"""Merge what many producers gave into one value, and say what it holds."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.results.compile import *
    from aggregate.agents.results.merge import *
else:
    __getattr__ = door(
        __name__,
        {
            "merge": "merge_outputs",
            "compile": "MetadataBasedResultCompiler ResultCompiler compile_results register_compiler result_compiler",
        },
    )
