"""How many tokens a provider counts where we count one: a table for the first request, and bounds for what is reported.

Our counts are exact for the vocabulary o200k. Other vocabularies are not to be had offline, so their counts are ours
times a ratio. It is a whole number of thousandths, so that a limit in one count and the same limit in the other are
exact inverses of each other.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from aggregate.base.values import bare_model_name
from aggregate.sending.cache.policy import SCRIPTED

AS_OF: Final = "2026-11-22"
_WHOLE: Final = 1000
LOWEST: Final = 600
"""No vocabulary in use needs fewer thousandths of o200k's tokens: Chinese comes nearest, with three quarters, and a
ratio that is too low makes a prompt too long."""
HIGHEST: Final = 3000
"""The oldest vocabularies need twice as many for source code, which they spell blank by blank. What is reported beyond
thrice as many has been counted for something else than the request."""
# By the beginning of a model's name. Only those of OpenAI are exact. For Anthropic's, published comparisons with o200k
# say 1.16 for English prose and 1.2 to 1.3 for source code up to Claude 4.6; its notes on later models speak of up to
# 1.35 times as many again, of which a fifth is taken for source code. Google's, DeepSeek's and MiniMax's are estimates
# from comparisons of a few texts. All lie above the middle of what was found: the first prompt should be too short
# rather than too long, and the second one is fitted by what the provider has reported for the first.
_BY_MODEL: Final[Mapping[str, int]] = {
    "chatgpt": 1000,
    "codex": 1000,
    "gpt-": 1000,
    "o1": 1000,
    "o3": 1000,
    "o4": 1000,
    "claude": 1250,
    "claude-opus-4-7": 1500,
    "claude-opus-4-8": 1500,
    "claude-fable": 1500,
    "claude-haiku-5": 1500,
    "claude-mythos": 1500,
    "claude-opus-5": 1500,
    "claude-sonnet-5": 1500,
    "deepseek": 1100,
    "gemini": 1150,
    "minimax": 1050,
}


class TokenRatio(NamedTuple):
    """A provider's tokens for each of ours (rule B-10).

    Attributes:
        thousandths: The ratio, times a thousand.
        source: Where it comes from, as the end of a sentence.
    """

    thousandths: int
    source: str

    @property
    def value(self) -> float:
        """The ratio."""
        return self.thousandths / _WHOLE

    def provider_tokens(self, tokens: int) -> int:
        """Return how many tokens the provider counts where we count ``tokens``, rounded up."""
        return -(-tokens * self.thousandths // _WHOLE)

    def own_tokens(self, provider_tokens: int) -> int:
        """Return the most tokens of ours of which the provider counts no more than ``provider_tokens``."""
        return provider_tokens * _WHOLE // self.thousandths


OWN_COUNT: Final = TokenRatio(_WHOLE, "as o200k counts them")


def shipped_ratio(provider: str, model: str) -> TokenRatio:
    """Return the ratio of the table; a model that is not in it is taken to count as o200k does."""
    if provider == SCRIPTED:
        return OWN_COUNT  # its counts are ours, whichever model it plays
    bare_name = bare_model_name(model)
    known = max((name for name in _BY_MODEL if bare_name.startswith(name)), key=len, default="")
    if not known and provider == "gemini-cli":
        known = "gemini"  # it chooses a model by itself
    if not known:
        return TokenRatio(_WHOLE, "no ratio is known of this model, so by o200k")
    return TokenRatio(
        _BY_MODEL[known], f"an estimate of {AS_OF}, until {provider} has reported its own"
    )


def reported_ratio(provider: str, *, sent: int, reported: int, requests: int) -> TokenRatio:
    """Return the ratio of what a provider has reported to what was sent, within bounds.

    Args:
        provider: Named in the source.
        sent: Our tokens, at least 1.
        reported: The provider's tokens for the same.
        requests: In how many requests.
    """
    thousandths = -(-reported * _WHOLE // sent)
    bounded = min(max(thousandths, LOWEST), HIGHEST)
    many = f"{requests:,} requests" if requests != 1 else "one request"
    source = f"as {provider} has reported for {many}"
    if bounded != thousandths:
        bound = "at least" if bounded == LOWEST else "at most"
        source += f", {bound} {bounded / _WHOLE:g} since no vocabulary in use goes beyond"
    return TokenRatio(bounded, source)
