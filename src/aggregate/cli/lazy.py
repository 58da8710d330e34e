"""What commands seldom need and what takes long to load: each name is loaded on first use.

Commands write ``lazy.name`` for these; all else they import at their top.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if (
    TYPE_CHECKING
):  # for readers and type checkers; the same names as in the table, which a test compares
    from traceback import format_exception as format_exception

    from click.shell_completion import CompletionItem as CompletionItem
    from rich.console import Console as Console
    from rich.progress import Progress as Progress

    from aggregate.cli.audit_table import print_audit as print_audit
    from aggregate.cli.clipboard import copy_to_clipboard as copy_to_clipboard
    from aggregate.cli.conduct.start import start_track as start_track
    from aggregate.cli.conduct.tracks import print_tracks as print_tracks
    from aggregate.cli.program import run_process as run_process
    from aggregate.cli.trace_tree import draw_trace as draw_trace
    from aggregate.cli.watched_request import AskedAgain as AskedAgain
    from aggregate.cli.watched_run import watch_run as watch_run
    from aggregate.mcp.http import new_token as new_token
    from aggregate.mcp.serving import serve_on_http as serve_on_http
    from aggregate.mcp.serving import serve_on_stdio as serve_on_stdio
    from aggregate.panel.serving import serve_panel as serve_panel
    from aggregate.project.configuration.schema import json_schema as json_schema
    from aggregate.prompt.audit import audit_of as audit_of
    from aggregate.prompt.audit_data import audit_data as audit_data
    from aggregate.prompt.audit_schema import audit_schema as audit_schema
    from aggregate.prompt.file_stats import largest_folders as largest_folders
    from aggregate.prompt.ranked_files import file_scores as file_scores
    from aggregate.prompt.segment_counter import SegmentCounter as SegmentCounter
    from aggregate.prompt.token_counts import PromptTokens as PromptTokens
    from aggregate.prompt.token_counts import count_prompt as count_prompt
    from aggregate.sending.audit_recorder import AuditRecorder as AuditRecorder
    from aggregate.sending.clients.model_choice import exceeded_window as exceeded_window

HOMES = {
    "AskedAgain": "aggregate.cli.watched_request",
    "AuditRecorder": "aggregate.sending.audit_recorder",  # prompts for neither task nor budget have no account
    "CompletionItem": "click.shell_completion",  # while a shell completes alone
    "Console": "rich.console",  # rich adds a twelfth to the time of a run, and draws on a terminal alone
    "Progress": "rich.progress",
    "PromptTokens": "aggregate.prompt.token_counts",  # a quiet run tells of no tokens
    "SegmentCounter": "aggregate.prompt.segment_counter",
    "audit_data": "aggregate.prompt.audit_data",
    "audit_of": "aggregate.prompt.audit",
    "audit_schema": "aggregate.prompt.audit_schema",  # one of two, each asked for by itself
    "copy_to_clipboard": "aggregate.cli.clipboard",
    "count_prompt": "aggregate.prompt.token_counts",
    "draw_trace": "aggregate.cli.trace_tree",
    "exceeded_window": "aggregate.sending.clients.model_choice",  # one run in thousands is that large
    "file_scores": "aggregate.prompt.ranked_files",  # most lists of files are for no task
    "format_exception": "traceback",  # for who debugs
    "json_schema": "aggregate.project.configuration.schema",
    "largest_folders": "aggregate.prompt.file_stats",
    "new_token": "aggregate.mcp.http",  # what serves agents needs an extra
    "print_audit": "aggregate.cli.audit_table",  # draws with rich
    "print_tracks": "aggregate.cli.conduct.tracks",  # so that the help of conduct is quick
    "run_process": "aggregate.cli.program",  # nothing is loaded before PATH is clean
    "serve_on_http": "aggregate.mcp.serving",
    "serve_on_stdio": "aggregate.mcp.serving",
    "serve_panel": "aggregate.panel.serving",  # needs an extra
    "start_track": "aggregate.cli.conduct.start",  # needs DBOS, without which a dry run works
    "watch_run": "aggregate.cli.watched_run",  # what watches folders takes 20 ms to load
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a name of the table."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
