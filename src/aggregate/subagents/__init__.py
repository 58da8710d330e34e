"""Fold what many producers gave into one trustworthy result: sub-agents, steps and tools.

Groups collect sub-agents' results into variables; ``select_answer`` finds the answer among the results of steps;
``compile_results`` makes a report of tools' results; ``compact_data`` keeps large values on disk;
``execute_data_analysis`` runs code over them in a sandbox. Nothing here asks a model, and nothing is dropped silently.
"""

from aggregate.agent.answer_selection import select_answer
from aggregate.agent.quantities import extract_quantity
from aggregate.models.group import FailurePolicy, GroupStatus, MergeOrder, MergeStrategy, RunRecord, RunStatus
from aggregate.models.result import AggregatedResult, Answer, CompilationContext, LabelledOutput, SpawnRequest
from aggregate.results.compile import (
    MetadataBasedResultCompiler,
    compile_results,
    register_compiler,
    result_compiler,
)
from aggregate.results.compilers import ResultCompiler
from aggregate.results.merge import GroupOutcome, merge_outputs
from aggregate.results.references import (
    compact_data,
    compact_result,
    compact_sections,
    load_data_reference,
    prune_data_cache,
)
from aggregate.sandbox import SandboxLimits
from aggregate.subagents.group_results import SubagentResults
from aggregate.subagents.protocol import announcement, envelope, sessions_spawn, subagent_results
from aggregate.subagents.session import SubagentSession
from aggregate.subagents.waiting import RunHandle
from aggregate.tools.analysis import execute_data_analysis

__all__ = [
    "AggregatedResult",
    "Answer",
    "CompilationContext",
    "GroupOutcome",
    "GroupStatus",
    "LabelledOutput",
    "SandboxLimits",
    "MergeStrategy",
    "MetadataBasedResultCompiler",
    "FailurePolicy",
    "MergeOrder",
    "ResultCompiler",
    "RunHandle",
    "RunRecord",
    "RunStatus",
    "SpawnRequest",
    "SubagentResults",
    "SubagentSession",
    "announcement",
    "compact_data",
    "compact_result",
    "compact_sections",
    "compile_results",
    "envelope",
    "execute_data_analysis",
    "extract_quantity",
    "load_data_reference",
    "merge_outputs",
    "prune_data_cache",
    "register_compiler",
    "result_compiler",
    "select_answer",
    "sessions_spawn",
    "subagent_results",
]
