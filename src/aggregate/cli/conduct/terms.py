"""What the user allows the workers of a run, made of the options."""

from pathlib import Path

from aggregate.agents.tools import standard_tools
from aggregate.agents.tracks import WorkerTerms, parse_worker, user_limits


def open_terms(
    spec: str,
    root: Path,
    *,
    base_url: str,
    folder: Path | None,
    allow: tuple[str, ...],
    max_tokens: int | None,
    max_seconds: float | None,
    max_steps: int | None,
) -> WorkerTerms:
    """Return what the user allows.

    Args:
        spec: The worker, as ``--worker`` names it.
        root: The folder that project tools may read.
        base_url: Where its provider is reached.
        folder: Of more tools.
        allow: What tools may do besides reading.
        max_tokens: Of one attempt.
        max_seconds: Of one attempt.
        max_steps: Of a ticket with tools.

    Raises:
        TrackError: There is no such worker.
        ToolError: A tool cannot be used.
        ConfigError: The user's own configuration cannot be used, or the model's name is a slip of a known one.
    """
    provider, model = parse_worker(spec)
    registry = standard_tools(state_dir=root / "state", roots=(root,), permissions=("read", *allow))
    if folder is not None:
        registry.discover(folder)
    limits = user_limits().changed(
        max_tokens=max_tokens, max_seconds=max_seconds, max_steps=max_steps
    )
    return WorkerTerms(provider, model, base_url, registry, limits)
