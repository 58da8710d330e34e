"""How many tokens a provider counts where we count one: a table at first, then what it has reported.

Our counts are exact for the vocabulary o200k. Other vocabularies are not to be had offline, so their counts are ours
times a ratio. It is a whole number of thousandths, so that a limit in one count and the same limit in the other are
exact inverses of each other.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk import (
    exclusive_access,
    private_folder,
    read_text,
    replace_own,
    user_state_folder,
)
from aggregate.base.errors import OutputError
from aggregate.base.values import Usage
from aggregate.sending.cache.policy import SCRIPTED, longest_start

AS_OF: Final = "2026-11-22"
_WHOLE: Final = 1000
LOWEST: Final = 600  # thousandths: Chinese comes nearest with 750, and a ratio that is too low makes a prompt too long
HIGHEST: Final = 3000  # twice is what the oldest vocabularies need for code; beyond, something else has been counted
# By the beginning of a model's name. Only those of OpenAI are exact. For Anthropic's, published comparisons with o200k
# say 1.16 for English prose and 1.2 to 1.3 for source code up to Claude 4.6; its notes on later models speak of up to
# 1.35 times as many again, of which a fifth is taken for source code. Google's, DeepSeek's and MiniMax's are estimates
# from comparisons of a few texts. All lie above the middle of what was found: the first prompt should be too short
# rather than too long, and the second one is fitted by what the provider has reported for the first.
_LATER_CLAUDES: Final = ("haiku-5", "sonnet-5", "opus-4-7", "opus-4-8", "opus-5", "fable", "mythos")
_BY_MODEL: Final[Mapping[str, int]] = {
    **dict.fromkeys(("chatgpt", "codex", "gpt-", "o1", "o3", "o4"), 1000),
    "claude": 1250,
    **{f"claude-{name}": 1500 for name in _LATER_CLAUDES},
    "deepseek": 1100,
    "gemini": 1150,
    "minimax": 1050,
}


class TokenRatio(NamedTuple):
    """A provider's tokens for each thousand of ours (rule B-10); ``source`` is the end of a sentence."""

    thousandths: int
    source: str

    @property
    def value(self) -> float:
        return self.thousandths / _WHOLE

    def provider_tokens(self, tokens: int) -> int:
        return -(-tokens * self.thousandths // _WHOLE)

    def own_tokens(self, provider_tokens: int) -> int:
        return provider_tokens * _WHOLE // self.thousandths


OWN_COUNT: Final = TokenRatio(_WHOLE, "as o200k counts them")


def shipped_ratio(provider: str, model: str) -> TokenRatio:
    if provider == SCRIPTED:
        return OWN_COUNT  # its counts are ours, whichever model it plays
    known = longest_start(model, _BY_MODEL)
    if not known and provider == "gemini-cli":
        known = "gemini"  # it chooses a model by itself
    if not known:
        return TokenRatio(_WHOLE, "no ratio is known of this model, so by o200k")
    return TokenRatio(
        _BY_MODEL[known], f"an estimate of {AS_OF}, until {provider} has reported its own"
    )


def reported_ratio(provider: str, *, sent: int, reported: int, requests: int) -> TokenRatio:
    thousandths = -(-reported * _WHOLE // sent)
    bounded = min(max(thousandths, LOWEST), HIGHEST)
    many = f"{requests:,} requests" if requests != 1 else "one request"
    source = f"as {provider} has reported for {many}"
    if bounded != thousandths:
        bound = "at least" if bounded == LOWEST else "at most"
        source += f", {bound} {bounded / _WHOLE:g} since no vocabulary in use goes beyond"
    return TokenRatio(bounded, source)


RATIOS_FILE: Final = "token_ratios.json"  # in the user's own folder: a ratio belongs to a model
_VERSION: Final = 1
_MOST_MODELS: Final = 200  # more than anybody asks; the ones that were asked longest ago go first
_FEWEST_TOKENS: Final = 200  # below, what a server puts around a message weighs too much
# What earlier requests count after one more: what is sent now is most like what was sent last, and one odd report is
# outweighed after two others.
_FADE: Final = (3, 4)
_LARGEST: Final = 2**50  # no sum of tokens is larger
# The scripted client counts as we do. The program ``gemini`` adds instructions and tools of its own to each request,
# thousands of tokens that are no matter of the vocabulary.
_UNTOLD: Final = frozenset({SCRIPTED, "gemini-cli"})


class _Reported(NamedTuple):
    sent: int
    reported: int
    requests: int


def token_ratio(provider: str, model: str) -> TokenRatio:
    path = _path()
    sums = _read(path).get((provider, model)) if path and provider not in _UNTOLD else None
    if sums is None:
        return shipped_ratio(provider, model)
    return reported_ratio(provider, sent=sums.sent, reported=sums.reported, requests=sums.requests)


def record_usage(provider: str, model: str, *, sent: int, usage: Usage) -> tuple[str, ...]:
    """Keep what a provider reports for ``sent`` tokens of ours; return a sentence where that is odd or not kept."""
    path = _path()
    if path is None or provider in _UNTOLD or not usage.input or sent < _FEWEST_TOKENS:
        return ()
    reported = min(max(usage.input, sent * LOWEST // 1000), sent * HIGHEST // 1000)
    kept, whole = _FADE
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            rows = _read(path)
            old = rows.pop((provider, model), _Reported(0, 0, 0))
            rows[provider, model] = _Reported(
                old.sent * kept // whole + sent,
                old.reported * kept // whole + reported,
                min(old.requests + 1, _LARGEST),
            )
            ratios = [
                {"provider": asked, "model": name, **sums._asdict()}
                for (asked, name), sums in list(rows.items())[-_MOST_MODELS:]
            ]
            data = {"version": _VERSION, "encoding": "o200k_base", "ratios": ratios}
            replace_own(path, json.dumps(data, indent=1) + "\n")
    except (OSError, OutputError) as error:
        return (f"how {provider} counts tokens is not kept: {error}",)
    if reported == usage.input:
        return ()
    return (
        f"{provider} reports {usage.input:,} tokens where o200k has {sent:,}, which is no matter of its vocabulary: "
        f"taken as {reported:,}",
    )


def _read(path: Path) -> dict[tuple[str, str], _Reported]:
    rows: dict[tuple[str, str], _Reported] = {}
    try:
        data = json.loads(read_text(path))
        if data["version"] != _VERSION:
            return {}
        for row in data["ratios"][-_MOST_MODELS:]:
            sums = _Reported(*(row[name] for name in _Reported._fields))
            if all(type(number) is int and 0 < number <= _LARGEST for number in sums):
                rows[str(row["provider"]), str(row["model"])] = sums
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return rows


def _path() -> Path | None:
    folder = user_state_folder()
    return folder / RATIOS_FILE if folder else None
