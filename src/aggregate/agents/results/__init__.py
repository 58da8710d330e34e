"""Merge outputs into one value, and compile reports.

Outputs come from sub-agents or tickets; a report has the results of tools.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.results.compile import *
    from aggregate.agents.results.group import *
    from aggregate.agents.results.merge import *
else:
    __getattr__ = door(
        __name__,
        {
            "compile": "CompilationContext MetadataBasedResultCompiler ResultCompiler compile_results register_compiler result_compiler",
            "group": "CustomFunction FailurePolicy Group LabelledOutput MergeOrder failures",
            "merge": "merge_group merge_outputs",
        },
    )
