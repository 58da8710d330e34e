"""Merge outputs of sub-agents or tickets into one value, and results of tools into a report."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.results.compile import *
    from aggregate.agents.results.merge import *
else:
    __getattr__ = door(
        __name__,
        {
            "compile": "CompilationContext MetadataBasedResultCompiler ResultCompiler compile_results register_compiler result_compiler",
            "merge": "CustomFunction FailurePolicy Group LabelledOutput MergeOrder NotJson VARIABLE failures known_member merge_group merge_outputs parse_json_text",
        },
    )
