"""Merge what many producers gave into one value, and say what it holds."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.results.compile import *
    from aggregate.agents.results.merge import *
    from aggregate.agents.results.outputs import *
else:
    __getattr__ = door(
        __name__,
        {
            "compile": "MetadataBasedResultCompiler ResultCompiler compile_results register_compiler result_compiler",
            "merge": "merge_outputs",
            "outputs": "CompilationContext CustomFunction LabelledOutput",
        },
    )
