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

    from aggregate.agent import GoalResult as GoalResult
    from aggregate.agent import NeuronAgent as NeuronAgent
    from aggregate.agent.answer_selection import select_answer as select_answer
    from aggregate.agent.quantities import extract_quantity as extract_quantity
    from aggregate.anchors import AnchorState as AnchorState
    from aggregate.anchors import FuzzyAnchor as FuzzyAnchor
    from aggregate.anchors import Resolution as Resolution
    from aggregate.chat.host_requests import PlannedRequest as PlannedRequest
    from aggregate.chat.host_requests import plan_for as plan_for
    from aggregate.chat.host_requests import record as record
    from aggregate.chat.host_requests import to_anthropic as to_anthropic
    from aggregate.chat.host_requests import to_gemini as to_gemini
    from aggregate.chat.host_requests import to_openai as to_openai
    from aggregate.cli import main as main
    from aggregate.clients.client import Client as Client
    from aggregate.clients.protocol import RequestOptions as RequestOptions
    from aggregate.clients.providers import open_client as open_client
    from aggregate.compose.api import build_file_items as build_file_items
    from aggregate.compose.api import build_markdown as build_markdown
    from aggregate.compose.api import build_markdown_from_items as build_markdown_from_items
    from aggregate.compose.api import build_markdown_no_history as build_markdown_no_history
    from aggregate.compose.api import build_screenshots_section as build_screenshots_section
    from aggregate.compose.api import build_summary_markdown as build_summary_markdown
    from aggregate.compose.api import build_tier3_context as build_tier3_context
    from aggregate.compose.api import compose_prompt as compose_prompt
    from aggregate.compose.api import run as run
    from aggregate.compose.api import stream_prompt as stream_prompt
    from aggregate.compose.assemble import Composition as Composition
    from aggregate.compose.beads_reading import build_beads_section as build_beads_section
    from aggregate.compose.file_stats import compute_file_stats as compute_file_stats
    from aggregate.compose.file_stats import group_files_by_dir as group_files_by_dir
    from aggregate.compose.live_prompt import LivePrompt as LivePrompt
    from aggregate.compose.numbered_output import find_next_increment as find_next_increment
    from aggregate.compose.project import open_project as open_project
    from aggregate.compose.project import request_for as request_for
    from aggregate.compose.prompt_stream import PromptStream as PromptStream
    from aggregate.conductor.lifecycle import run_worker_lifecycle as run_worker_lifecycle
    from aggregate.conductor.make_worker import make_worker as make_worker
    from aggregate.conductor.run_options import RunOptions as RunOptions
    from aggregate.conductor.service import conduct as conduct
    from aggregate.config.load import Project as Project
    from aggregate.config.load import load_config as load_config
    from aggregate.errors import AggregateError as AggregateError
    from aggregate.errors import BudgetError as BudgetError
    from aggregate.errors import ClientError as ClientError
    from aggregate.errors import ClientSetupError as ClientSetupError
    from aggregate.errors import ConfigError as ConfigError
    from aggregate.errors import PromptTooLongError as PromptTooLongError
    from aggregate.errors import ProviderError as ProviderError
    from aggregate.errors import ScopeError as ScopeError
    from aggregate.errors import SpawnError as SpawnError
    from aggregate.errors import WaitError as WaitError
    from aggregate.models.budget import Budget as Budget
    from aggregate.models.choice import FileChoice as FileChoice
    from aggregate.models.file_item import FileItem as FileItem
    from aggregate.models.file_item import FileRecord as FileRecord
    from aggregate.models.group import RunStatus as RunStatus
    from aggregate.models.preset import ContextFileEntry as ContextFileEntry
    from aggregate.models.preset import ContextPreset as ContextPreset
    from aggregate.models.prompt import Prompt as Prompt
    from aggregate.models.prompt import Segment as Segment
    from aggregate.models.reply import FinishReason as FinishReason
    from aggregate.models.reply import Reply as Reply
    from aggregate.models.result import AggregatedResult as AggregatedResult
    from aggregate.models.result import Answer as Answer
    from aggregate.models.result import CompilationContext as CompilationContext
    from aggregate.models.result import LabelledOutput as LabelledOutput
    from aggregate.models.task import Place as Place
    from aggregate.models.task import Task as Task
    from aggregate.models.usage import Usage as Usage
    from aggregate.models.view import View as View
    from aggregate.models.view import ViewMode as ViewMode
    from aggregate.monitor import get_monitor as get_monitor
    from aggregate.presets.store import ContextPresetManager as ContextPresetManager
    from aggregate.results.compile import MetadataBasedResultCompiler as MetadataBasedResultCompiler
    from aggregate.results.compile import compile_results as compile_results
    from aggregate.results.compile import register_compiler as register_compiler
    from aggregate.results.compile import result_compiler as result_compiler
    from aggregate.results.compilers import ResultCompiler as ResultCompiler
    from aggregate.results.merge import merge_outputs as merge_outputs
    from aggregate.results.references import compact_data as compact_data
    from aggregate.results.references import load_data_reference as load_data_reference
    from aggregate.results.references import prune_data_cache as prune_data_cache
    from aggregate.sections.discussion import build_discussion_section as build_discussion_section
    from aggregate.sections.discussion import build_discussion_text as build_discussion_text
    from aggregate.sources.path_resolution import resolve_paths as resolve_paths
    from aggregate.subagents import RunHandle as RunHandle
    from aggregate.subagents import SubagentSession as SubagentSession
    from aggregate.subagents import sessions_spawn as sessions_spawn
    from aggregate.tokens.count import count as count
    from aggregate.tools import ToolRegistry as ToolRegistry
    from aggregate.tools import standard_tools as standard_tools
    from aggregate.tools.analysis import execute_data_analysis as execute_data_analysis
    from aggregate.views.ast_parser import ASTParser as ASTParser
    from aggregate.views.one_text import summarise_file as summarise_file

_HOMES = {
    "aggregate.agent": (
        "GoalResult",
        "NeuronAgent",
    ),
    "aggregate.agent.answer_selection": ("select_answer",),
    "aggregate.agent.quantities": ("extract_quantity",),
    "aggregate.anchors": (
        "AnchorState",
        "FuzzyAnchor",
        "Resolution",
    ),
    "aggregate.chat.host_requests": (
        "PlannedRequest",
        "plan_for",
        "record",
        "to_anthropic",
        "to_gemini",
        "to_openai",
    ),
    "aggregate.cli": ("main",),
    "aggregate.clients.client": ("Client",),
    "aggregate.clients.protocol": ("RequestOptions",),
    "aggregate.clients.providers": ("open_client",),
    "aggregate.compose.api": (
        "build_file_items",
        "build_markdown",
        "build_markdown_from_items",
        "build_markdown_no_history",
        "build_screenshots_section",
        "build_summary_markdown",
        "build_tier3_context",
        "compose_prompt",
        "run",
        "stream_prompt",
    ),
    "aggregate.compose.assemble": ("Composition",),
    "aggregate.compose.beads_reading": ("build_beads_section",),
    "aggregate.compose.file_stats": (
        "compute_file_stats",
        "group_files_by_dir",
    ),
    "aggregate.compose.live_prompt": ("LivePrompt",),
    "aggregate.compose.numbered_output": ("find_next_increment",),
    "aggregate.compose.project": (
        "open_project",
        "request_for",
    ),
    "aggregate.compose.prompt_stream": ("PromptStream",),
    "aggregate.conductor.lifecycle": ("run_worker_lifecycle",),
    "aggregate.conductor.make_worker": ("make_worker",),
    "aggregate.conductor.run_options": ("RunOptions",),
    "aggregate.conductor.service": ("conduct",),
    "aggregate.config.load": (
        "Project",
        "load_config",
    ),
    "aggregate.errors": (
        "AggregateError",
        "BudgetError",
        "ClientError",
        "ClientSetupError",
        "ConfigError",
        "PromptTooLongError",
        "ProviderError",
        "ScopeError",
        "SpawnError",
        "WaitError",
    ),
    "aggregate.models.budget": ("Budget",),
    "aggregate.models.choice": ("FileChoice",),
    "aggregate.models.file_item": (
        "FileItem",
        "FileRecord",
    ),
    "aggregate.models.group": ("RunStatus",),
    "aggregate.models.preset": (
        "ContextFileEntry",
        "ContextPreset",
    ),
    "aggregate.models.prompt": (
        "Prompt",
        "Segment",
    ),
    "aggregate.models.reply": (
        "FinishReason",
        "Reply",
    ),
    "aggregate.models.result": (
        "AggregatedResult",
        "Answer",
        "CompilationContext",
        "LabelledOutput",
    ),
    "aggregate.models.task": (
        "Place",
        "Task",
    ),
    "aggregate.models.usage": ("Usage",),
    "aggregate.models.view": (
        "View",
        "ViewMode",
    ),
    "aggregate.monitor": ("get_monitor",),
    "aggregate.presets.store": ("ContextPresetManager",),
    "aggregate.results.compile": (
        "MetadataBasedResultCompiler",
        "compile_results",
        "register_compiler",
        "result_compiler",
    ),
    "aggregate.results.compilers": ("ResultCompiler",),
    "aggregate.results.merge": ("merge_outputs",),
    "aggregate.results.references": (
        "compact_data",
        "load_data_reference",
        "prune_data_cache",
    ),
    "aggregate.sections.discussion": (
        "build_discussion_section",
        "build_discussion_text",
    ),
    "aggregate.sources.path_resolution": ("resolve_paths",),
    "aggregate.subagents": (
        "RunHandle",
        "SubagentSession",
        "sessions_spawn",
    ),
    "aggregate.tokens.count": ("count",),
    "aggregate.tools": (
        "ToolRegistry",
        "standard_tools",
    ),
    "aggregate.tools.analysis": ("execute_data_analysis",),
    "aggregate.views.ast_parser": ("ASTParser",),
    "aggregate.views.one_text": ("summarise_file",),
}
_HOME_BY_NAME = {name: home for home, names in _HOMES.items() for name in names}

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
