"""Sub-agents: spawn them, know how each of them ended, and read what they gave by variable."""

from aggregate.deprecation import renamed
from aggregate.subagents.group_results import SubagentResults
from aggregate.subagents.session import SubagentSession
from aggregate.subagents.spawn_protocol import (
    announcement,
    envelope,
    sessions_spawn,
    subagent_results,
)
from aggregate.subagents.waiting import RunHandle

__all__ = [
    "RunHandle",
    "SubagentResults",
    "SubagentSession",
    "announcement",
    "envelope",
    "sessions_spawn",
    "subagent_results",
]

__getattr__ = renamed(
    __name__,
    {
        "AggregatedResult": "aggregate:AggregatedResult",
        "Answer": "aggregate:Answer",
        "CompilationContext": "aggregate:CompilationContext",
        "Ending": "aggregate.results.merge:GroupOutcome",
        "GroupStatus": "aggregate.models.group:GroupStatus",
        "LabelledOutput": "aggregate:LabelledOutput",
        "Limits": "aggregate.sandbox:SandboxLimits",
        "MergeStrategy": "aggregate.models.group:MergeStrategy",
        "MetadataBasedResultCompiler": "aggregate:MetadataBasedResultCompiler",
        "OnError": "aggregate.models.group:FailurePolicy",
        "Order": "aggregate.models.group:MergeOrder",
        "ResultCompiler": "aggregate:ResultCompiler",
        "RunRecord": "aggregate.models.group:RunRecord",
        "RunStatus": "aggregate:RunStatus",
        "SpawnRequest": "aggregate.models.result:SpawnRequest",
        "compact_data": "aggregate:compact_data",
        "compact_result": "aggregate.results.references:compact_result",
        "compact_sections": "aggregate.results.references:compact_sections",
        "compile_results": "aggregate:compile_results",
        "execute_data_analysis": "aggregate:execute_data_analysis",
        "extract_quantity": "aggregate:extract_quantity",
        "load_data_reference": "aggregate:load_data_reference",
        "merge_outputs": "aggregate:merge_outputs",
        "prune_data_cache": "aggregate:prune_data_cache",
        "register_compiler": "aggregate:register_compiler",
        "result_compiler": "aggregate:result_compiler",
        "select_answer": "aggregate:select_answer",
    },
)
