"""What providers have reported of their own token counts, kept for the user from one send to the next (rule B-10).

The file lies in the user's own state folder, since a project may come from somebody else, and since the ratio belongs
to a model and not to a project.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk import (
    exclusive_access,
    private_folder,
    read_text,
    replace_own,
    user_state_folder,
)
from aggregate.base.errors import OutputError
from aggregate.base.values import Usage
from aggregate.sending.cache.policy import SCRIPTED
from aggregate.sending.clients.token_ratios import (
    HIGHEST,
    LOWEST,
    TokenRatio,
    reported_ratio,
    shipped_ratio,
)

RATIOS_FILE: Final = "token_ratios.json"
_VERSION: Final = 1
_MOST_MODELS: Final = 200
"""More than anybody asks; the ones that were asked longest ago go first."""
_FEWEST_TOKENS: Final = 200
"""Of a request that says something about a vocabulary: below, the few tokens that a server puts around a message weigh
too much."""
_FADE: Final = (3, 4)
"""What earlier requests count after one more: what is sent now is most like what was sent last, and one odd report is
outweighed after two others."""
_LARGEST: Final = 2**50
"""No sum of tokens is larger."""
_UNTOLD: Final = frozenset({SCRIPTED, "gemini-cli"})
"""The scripted client counts as we do. The program ``gemini`` adds instructions and tools of its own to each request,
thousands of tokens that are no matter of the vocabulary."""


class _Reported(NamedTuple):
    """Sums over the requests to one model, earlier ones faded."""

    sent: int
    reported: int
    requests: int


def token_ratio(provider: str, model: str) -> TokenRatio:
    """Return how many tokens a provider counts for each of ours: as it has reported, at first by the shipped table."""
    path = _path()
    sums = _read(path).get((provider, model)) if path and provider not in _UNTOLD else None
    if sums is None:
        return shipped_ratio(provider, model)
    return reported_ratio(provider, sent=sums.sent, reported=sums.reported, requests=sums.requests)


def record_usage(provider: str, model: str, *, sent: int, usage: Usage) -> tuple[str, ...]:
    """Keep what a provider has reported for a request; return a sentence where that was odd or could not be kept.

    Args:
        provider: Who has reported.
        model: Which model was asked.
        sent: Our tokens of the whole request.
        usage: What was reported; no input at all means that nothing was.
    """
    path = _path()
    if path is None or provider in _UNTOLD or not usage.input or sent < _FEWEST_TOKENS:
        return ()
    reported = min(max(usage.input, sent * LOWEST // 1000), sent * HIGHEST // 1000)
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            _add(path, (provider, model), _Reported(sent, reported, 1))
    except (OSError, OutputError) as error:
        return (f"how {provider} counts tokens is not kept: {error}",)
    if reported == usage.input:
        return ()
    return (
        f"{provider} reports {usage.input:,} tokens where o200k has {sent:,}, which is no matter of its vocabulary: "
        f"taken as {reported:,}",
    )


def _add(path: Path, key: tuple[str, str], new: _Reported) -> None:
    rows = _read(path)
    kept, whole = _FADE
    old = rows.pop(key, _Reported(0, 0, 0))
    rows[key] = _Reported(
        old.sent * kept // whole + new.sent,
        old.reported * kept // whole + new.reported,
        min(old.requests + new.requests, _LARGEST),
    )
    newest = list(rows.items())[-_MOST_MODELS:]
    data = {
        "version": _VERSION,
        "encoding": "o200k_base",
        "ratios": [
            {"provider": provider, "model": model, **sums._asdict()}
            for (provider, model), sums in newest
        ],
    }
    replace_own(path, json.dumps(data, indent=1) + "\n")


def _read(path: Path) -> dict[tuple[str, str], _Reported]:
    """Return what is kept; a file that is missing, damaged or of another version holds nothing."""
    try:
        data = json.loads(read_text(path))
        if data["version"] != _VERSION:
            return {}
        rows = map(_row, data["ratios"][-_MOST_MODELS:])
        return dict(row for row in rows if row is not None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _row(row: Mapping[str, Any]) -> tuple[tuple[str, str], _Reported] | None:
    numbers = [row[name] for name in _Reported._fields]
    is_whole = all(type(number) is int and 0 < number <= _LARGEST for number in numbers)
    return ((str(row["provider"]), str(row["model"])), _Reported(*numbers)) if is_whole else None


def _path() -> Path | None:
    folder = user_state_folder()
    return folder / RATIOS_FILE if folder else None
