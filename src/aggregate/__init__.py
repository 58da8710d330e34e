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

    from aggregate.agents.goals import GoalResult as GoalResult
    from aggregate.agents.goals import NeuronAgent as NeuronAgent
    from aggregate.agents.goals.answer_selection import select_answer as select_answer
    from aggregate.agents.goals.quantities import extract_quantity as extract_quantity
    from aggregate.agents.results.compile import (
        MetadataBasedResultCompiler as MetadataBasedResultCompiler,
    )
    from aggregate.agents.results.compile import ResultCompiler as ResultCompiler
    from aggregate.agents.results.compile import compile_results as compile_results
    from aggregate.agents.results.compile import register_compiler as register_compiler
    from aggregate.agents.results.compile import result_compiler as result_compiler
    from aggregate.agents.results.merge import merge_outputs as merge_outputs
    from aggregate.agents.subagents import RunHandle as RunHandle
    from aggregate.agents.subagents import SubagentSession as SubagentSession
    from aggregate.agents.subagents import sessions_spawn as sessions_spawn
    from aggregate.agents.tools import ToolRegistry as ToolRegistry
    from aggregate.agents.tools import standard_tools as standard_tools
    from aggregate.agents.tools.analysis import execute_data_analysis as execute_data_analysis
    from aggregate.agents.tracks.attempt import run_worker_lifecycle as run_worker_lifecycle
    from aggregate.agents.tracks.run_options import RunOptions as RunOptions
    from aggregate.agents.tracks.service import conduct as conduct
    from aggregate.agents.tracks.worker import make_worker as make_worker
    from aggregate.base.errors import AggregateError as AggregateError
    from aggregate.base.errors import BudgetError as BudgetError
    from aggregate.base.errors import ClientError as ClientError
    from aggregate.base.errors import ClientSetupError as ClientSetupError
    from aggregate.base.errors import ConfigError as ConfigError
    from aggregate.base.errors import PromptTooLongError as PromptTooLongError
    from aggregate.base.errors import ProviderError as ProviderError
    from aggregate.base.errors import ScopeError as ScopeError
    from aggregate.base.errors import SpawnError as SpawnError
    from aggregate.base.errors import WaitError as WaitError
    from aggregate.base.monitor import get_monitor as get_monitor
    from aggregate.base.tokens.counter import count as count
    from aggregate.base.values.decisions import FileChoice as FileChoice
    from aggregate.base.values.files import FileItem as FileItem
    from aggregate.base.values.files import FileRecord as FileRecord
    from aggregate.base.values.files import View as View
    from aggregate.base.values.files import ViewMode as ViewMode
    from aggregate.base.values.models import FinishReason as FinishReason
    from aggregate.base.values.models import Reply as Reply
    from aggregate.base.values.models import Usage as Usage
    from aggregate.base.values.prompt import Prompt as Prompt
    from aggregate.base.values.prompt import Segment as Segment
    from aggregate.base.values.request import Budget as Budget
    from aggregate.base.values.request import ContextFileEntry as ContextFileEntry
    from aggregate.base.values.request import ContextPreset as ContextPreset
    from aggregate.base.values.request import Place as Place
    from aggregate.base.values.request import Task as Task
    from aggregate.base.values.results import AggregatedResult as AggregatedResult
    from aggregate.base.values.results import Answer as Answer
    from aggregate.base.values.results import CompilationContext as CompilationContext
    from aggregate.base.values.results import LabelledOutput as LabelledOutput
    from aggregate.base.values.results import RunStatus as RunStatus
    from aggregate.cli import main as main
    from aggregate.code.anchors import AnchorState as AnchorState
    from aggregate.code.anchors import FuzzyAnchor as FuzzyAnchor
    from aggregate.code.anchors import Resolution as Resolution
    from aggregate.code.views.ast_parser import ASTParser as ASTParser
    from aggregate.code.views.one_text import summarise_file as summarise_file
    from aggregate.project.configuration.load import Project as Project
    from aggregate.project.configuration.load import load_config as load_config
    from aggregate.project.files.path_resolution import resolve_paths as resolve_paths
    from aggregate.project.presets.store import ContextPresetManager as ContextPresetManager
    from aggregate.prompt.api import build_file_items as build_file_items
    from aggregate.prompt.api import build_markdown as build_markdown
    from aggregate.prompt.api import build_markdown_from_items as build_markdown_from_items
    from aggregate.prompt.api import build_markdown_no_history as build_markdown_no_history
    from aggregate.prompt.api import build_screenshots_section as build_screenshots_section
    from aggregate.prompt.api import build_summary_markdown as build_summary_markdown
    from aggregate.prompt.api import build_tier3_context as build_tier3_context
    from aggregate.prompt.api import compose_prompt as compose_prompt
    from aggregate.prompt.api import run as run
    from aggregate.prompt.api import stream_prompt as stream_prompt
    from aggregate.prompt.assemble import Composition as Composition
    from aggregate.prompt.assemble import PromptStream as PromptStream
    from aggregate.prompt.beads_reading import build_beads_section as build_beads_section
    from aggregate.prompt.file_sizes import compute_file_stats as compute_file_stats
    from aggregate.prompt.file_sizes import group_files_by_dir as group_files_by_dir
    from aggregate.prompt.live_prompt import LivePrompt as LivePrompt
    from aggregate.prompt.numbered_output import find_next_increment as find_next_increment
    from aggregate.prompt.project import open_project as open_project
    from aggregate.prompt.project import request_for as request_for
    from aggregate.prompt.references import compact_data as compact_data
    from aggregate.prompt.references import load_data_reference as load_data_reference
    from aggregate.prompt.references import prune_data_cache as prune_data_cache
    from aggregate.prompt.sections.discussion import (
        build_discussion_section as build_discussion_section,
    )
    from aggregate.prompt.sections.discussion import build_discussion_text as build_discussion_text
    from aggregate.sending.clients.client import Client as Client
    from aggregate.sending.clients.protocol import RequestOptions as RequestOptions
    from aggregate.sending.clients.providers import open_client as open_client
    from aggregate.sending.host_requests import PlannedRequest as PlannedRequest
    from aggregate.sending.host_requests import plan_for as plan_for
    from aggregate.sending.host_requests import record as record
    from aggregate.sending.host_requests import to_anthropic as to_anthropic
    from aggregate.sending.host_requests import to_gemini as to_gemini
    from aggregate.sending.host_requests import to_openai as to_openai

_HOMES = {
    "aggregate.agents.goals": (
        "GoalResult",
        "NeuronAgent",
    ),
    "aggregate.agents.goals.answer_selection": ("select_answer",),
    "aggregate.agents.goals.quantities": ("extract_quantity",),
    "aggregate.code.anchors": (
        "AnchorState",
        "FuzzyAnchor",
        "Resolution",
    ),
    "aggregate.sending.host_requests": (
        "PlannedRequest",
        "plan_for",
        "record",
        "to_anthropic",
        "to_gemini",
        "to_openai",
    ),
    "aggregate.cli": ("main",),
    "aggregate.sending.clients.client": ("Client",),
    "aggregate.sending.clients.protocol": ("RequestOptions",),
    "aggregate.sending.clients.providers": ("open_client",),
    "aggregate.prompt.api": (
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
    "aggregate.prompt.assemble": (
        "Composition",
        "PromptStream",
    ),
    "aggregate.prompt.beads_reading": ("build_beads_section",),
    "aggregate.prompt.file_sizes": (
        "compute_file_stats",
        "group_files_by_dir",
    ),
    "aggregate.prompt.live_prompt": ("LivePrompt",),
    "aggregate.prompt.numbered_output": ("find_next_increment",),
    "aggregate.prompt.project": (
        "open_project",
        "request_for",
    ),
    "aggregate.agents.tracks.attempt": ("run_worker_lifecycle",),
    "aggregate.agents.tracks.worker": ("make_worker",),
    "aggregate.agents.tracks.run_options": ("RunOptions",),
    "aggregate.agents.tracks.service": ("conduct",),
    "aggregate.project.configuration.load": (
        "Project",
        "load_config",
    ),
    "aggregate.base.errors": (
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
    "aggregate.base.values.request": (
        "Budget",
        "ContextFileEntry",
        "ContextPreset",
        "Place",
        "Task",
    ),
    "aggregate.base.values.decisions": ("FileChoice",),
    "aggregate.base.values.files": (
        "FileItem",
        "FileRecord",
        "View",
        "ViewMode",
    ),
    "aggregate.base.values.results": (
        "RunStatus",
        "AggregatedResult",
        "Answer",
        "CompilationContext",
        "LabelledOutput",
    ),
    "aggregate.base.values.prompt": (
        "Prompt",
        "Segment",
    ),
    "aggregate.base.values.models": (
        "FinishReason",
        "Reply",
        "Usage",
    ),
    "aggregate.base.monitor": ("get_monitor",),
    "aggregate.project.presets.store": ("ContextPresetManager",),
    "aggregate.agents.results.compile": (
        "ResultCompiler",
        "MetadataBasedResultCompiler",
        "compile_results",
        "register_compiler",
        "result_compiler",
    ),
    "aggregate.agents.results.merge": ("merge_outputs",),
    "aggregate.prompt.references": (
        "compact_data",
        "load_data_reference",
        "prune_data_cache",
    ),
    "aggregate.prompt.sections.discussion": (
        "build_discussion_section",
        "build_discussion_text",
    ),
    "aggregate.project.files.path_resolution": ("resolve_paths",),
    "aggregate.agents.subagents": (
        "RunHandle",
        "SubagentSession",
        "sessions_spawn",
    ),
    "aggregate.base.tokens.counter": ("count",),
    "aggregate.agents.tools": (
        "ToolRegistry",
        "standard_tools",
    ),
    "aggregate.agents.tools.analysis": ("execute_data_analysis",),
    "aggregate.code.views.ast_parser": ("ASTParser",),
    "aggregate.code.views.one_text": ("summarise_file",),
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
