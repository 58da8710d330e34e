"""Compose exactly the prompt that a language model should see.

The public surface is what ``__all__`` names; it is loaded on first use, so that ``import aggregate`` stays quick.
"""

from importlib import import_module

# Not from typing: with "python -m aggregate" this file runs while the current folder is still searched for modules (see
# __main__), and importlib is sure to be loaded by then.
TYPE_CHECKING = False

if (
    TYPE_CHECKING
):  # for readers and type checkers; the same names as in _HOMES, which a test compares
    from typing import Any

    from aggregate.agents.goals import (
        Completion as Completion,
        GoalResult as GoalResult,
        Model as Model,
        Neuron as Neuron,
        NeuronAgent as NeuronAgent,
        Question as Question,
        extract_quantity as extract_quantity,
        select_answer as select_answer,
    )
    from aggregate.agents.limits import EngineLimits as EngineLimits
    from aggregate.agents.results import (
        CompilationContext as CompilationContext,
        Group as Group,
        LabelledOutput as LabelledOutput,
        MetadataBasedResultCompiler as MetadataBasedResultCompiler,
        ResultCompiler as ResultCompiler,
        compile_results as compile_results,
        merge_outputs as merge_outputs,
        register_compiler as register_compiler,
        result_compiler as result_compiler,
    )
    from aggregate.agents.scripted import scripted_model as scripted_model
    from aggregate.agents.subagents import (
        RunHandle as RunHandle,
        RunRecord as RunRecord,
        RunStatus as RunStatus,
        SubagentSession as SubagentSession,
        sessions_spawn as sessions_spawn,
    )
    from aggregate.agents.tools import (
        ToolContext as ToolContext,
        ToolRegistry as ToolRegistry,
        discover_tools as discover_tools,
        execute_data_analysis as execute_data_analysis,
        standard_tools as standard_tools,
        tool as tool,
    )
    from aggregate.agents.tracks import (
        ModelWorker as ModelWorker,
        RunOptions as RunOptions,
        WorkerReply as WorkerReply,
        conduct as conduct,
        make_worker as make_worker,
        run_worker_lifecycle as run_worker_lifecycle,
    )
    from aggregate.base.errors import (
        AggregateError as AggregateError,
        BudgetError as BudgetError,
        ClientError as ClientError,
        ClientSetupError as ClientSetupError,
        CompilerError as CompilerError,
        ConfigError as ConfigError,
        DataReferenceError as DataReferenceError,
        ModelError as ModelError,
        OutputError as OutputError,
        PromptTooLongError as PromptTooLongError,
        ProviderError as ProviderError,
        SandboxError as SandboxError,
        ScopeError as ScopeError,
        SpawnError as SpawnError,
        StateError as StateError,
        ToolError as ToolError,
        TrackError as TrackError,
        WorkerError as WorkerError,
    )
    from aggregate.base.files import (
        FileItem as FileItem,
        FileRecord as FileRecord,
        View as View,
        ViewMode as ViewMode,
    )
    from aggregate.base.monitor import get_monitor as get_monitor
    from aggregate.base.task_budget import (
        Budget as Budget,
        FileChoice as FileChoice,
        Place as Place,
        Task as Task,
    )
    from aggregate.base.tokens import count as count
    from aggregate.cli import main as main
    from aggregate.code.anchors import (
        AnchorState as AnchorState,
        FuzzyAnchor as FuzzyAnchor,
        Resolution as Resolution,
    )
    from aggregate.code.views import ASTParser as ASTParser, summarise_file as summarise_file
    from aggregate.project.configuration import Project as Project, load_config as load_config
    from aggregate.project.files import resolve_paths as resolve_paths
    from aggregate.project.presets import (
        ContextFileEntry as ContextFileEntry,
        ContextPreset as ContextPreset,
        ContextPresetManager as ContextPresetManager,
    )
    from aggregate.prompt import (
        AskedViews as AskedViews,
        Composition as Composition,
        compose_prompt as compose_prompt,
        request_for as request_for,
        stream_prompt as stream_prompt,
    )
    from aggregate.prompt.api import (
        build_file_items as build_file_items,
        build_markdown as build_markdown,
        build_markdown_from_items as build_markdown_from_items,
        build_markdown_no_history as build_markdown_no_history,
        build_screenshots_section as build_screenshots_section,
        build_summary_markdown as build_summary_markdown,
        build_tier3_context as build_tier3_context,
        run as run,
    )
    from aggregate.prompt.asking import open_project as open_project
    from aggregate.prompt.asking.results import (
        AggregatedResult as AggregatedResult,
        Answer as Answer,
        MergeStrategy as MergeStrategy,
    )
    from aggregate.prompt.assemble import (
        PromptStream as PromptStream,
        build_beads_section as build_beads_section,
    )
    from aggregate.prompt.document import Origin as Origin, Prompt as Prompt, Segment as Segment
    from aggregate.prompt.files.file_sizes import (
        compute_file_stats as compute_file_stats,
        group_files_by_dir as group_files_by_dir,
    )
    from aggregate.prompt.output.numbered_output import find_next_increment as find_next_increment
    from aggregate.prompt.output.references import (
        compact_data as compact_data,
        load_data_reference as load_data_reference,
        prune_data_cache as prune_data_cache,
    )
    from aggregate.prompt.sections.discussion_section import (
        build_discussion_section as build_discussion_section,
        build_discussion_text as build_discussion_text,
    )
    from aggregate.sending import (
        compact_discussion as compact_discussion,
        prepare_compaction as prepare_compaction,
        prepare_turn as prepare_turn,
        send_turn as send_turn,
    )
    from aggregate.sending.clients import (
        ChatRequest as ChatRequest,
        Client as Client,
        open_client as open_client,
        redacting as redacting,
    )
    from aggregate.sending.host_requests import (
        plan_for as plan_for,
        record as record,
        to_anthropic as to_anthropic,
        to_gemini as to_gemini,
        to_openai as to_openai,
    )
    from aggregate.sending.message_plans import (
        PlannedMessages as PlannedMessages,
        bill_for as bill_for,
        plan_messages as plan_messages,
    )
    from aggregate.sending.models import (
        FinishReason as FinishReason,
        Reply as Reply,
        Usage as Usage,
    )
    from aggregate.sending.prices import Bill as Bill
    from aggregate.sending.turn import Exchange as Exchange

_HOMES = {
    "aggregate.agents.goals": "Completion GoalResult Model Neuron NeuronAgent Question extract_quantity select_answer",
    "aggregate.agents.limits": "EngineLimits",
    "aggregate.agents.results": "CompilationContext Group LabelledOutput MetadataBasedResultCompiler ResultCompiler compile_results merge_outputs register_compiler result_compiler",
    "aggregate.agents.scripted": "scripted_model",
    "aggregate.agents.subagents": "RunHandle RunRecord RunStatus SubagentSession sessions_spawn",
    "aggregate.agents.tools": "ToolContext ToolRegistry discover_tools execute_data_analysis standard_tools tool",
    "aggregate.agents.tracks": "ModelWorker RunOptions WorkerReply conduct make_worker run_worker_lifecycle",
    "aggregate.base.errors": "AggregateError BudgetError ClientError ClientSetupError CompilerError ConfigError DataReferenceError ModelError OutputError PromptTooLongError ProviderError SandboxError ScopeError SpawnError StateError ToolError TrackError WorkerError",
    "aggregate.base.files": "FileItem FileRecord View ViewMode",
    "aggregate.base.monitor": "get_monitor",
    "aggregate.base.task_budget": "Budget FileChoice Place Task",
    "aggregate.base.tokens": "count",
    "aggregate.cli": "main",
    "aggregate.code.anchors": "AnchorState FuzzyAnchor Resolution",
    "aggregate.code.views": "ASTParser summarise_file",
    "aggregate.project.configuration": "Project load_config",
    "aggregate.project.files": "resolve_paths",
    "aggregate.project.presets": "ContextFileEntry ContextPreset ContextPresetManager",
    "aggregate.prompt": "AskedViews Composition compose_prompt request_for stream_prompt",
    "aggregate.prompt.api": "build_file_items build_markdown build_markdown_from_items build_markdown_no_history build_screenshots_section build_summary_markdown build_tier3_context run",
    "aggregate.prompt.asking": "open_project",
    "aggregate.prompt.asking.results": "AggregatedResult Answer MergeStrategy",
    "aggregate.prompt.assemble": "PromptStream build_beads_section",
    "aggregate.prompt.document": "Origin Prompt Segment",
    "aggregate.prompt.files.file_sizes": "compute_file_stats group_files_by_dir",
    "aggregate.prompt.output.numbered_output": "find_next_increment",
    "aggregate.prompt.output.references": "compact_data load_data_reference prune_data_cache",
    "aggregate.prompt.sections.discussion_section": "build_discussion_section build_discussion_text",
    "aggregate.sending": "compact_discussion prepare_compaction prepare_turn send_turn",
    "aggregate.sending.clients": "ChatRequest Client open_client redacting",
    "aggregate.sending.host_requests": "plan_for record to_anthropic to_gemini to_openai",
    "aggregate.sending.message_plans": "PlannedMessages bill_for plan_messages",
    "aggregate.sending.models": "FinishReason Reply Usage",
    "aggregate.sending.prices": "Bill",
    "aggregate.sending.turn": "Exchange",
}
_HOME_BY_NAME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_BY_NAME)  # noqa: PLE0605 - a list, by construction


def __getattr__(name: str) -> "Any":  # noqa: ANN401 - whatever the name stands for
    """Load a public name on first use."""
    if name not in _HOME_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
