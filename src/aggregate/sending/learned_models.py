"""Statistics of earlier requests to each model: its count of tokens, cache misses, time to the first words.

They are stored in the user's state folder and only used for forecasts: the bill uses the usage in the reply.
"""

from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.writing import change_state, read_state, user_state_folder
from aggregate.sending.known_models import known_model
from aggregate.sending.models import SCRIPTED, Reply
from aggregate.sending.prices import OWN_COUNT, TokenRatio

LOWEST: Final = 600  # thousandths; Chinese text has 750, and too low a ratio makes prompts too long
HIGHEST: Final = 3000  # thousandths; the oldest vocabularies need 2000 for code
LEARNED_FILE: Final = "learned_models.json"
_VERSION: Final = 1
_MOST_MODELS: Final = 200  # the least recently used models are dropped first
_FEWEST_TOKENS: Final = 200  # of a shorter request the server's own wrapping distorts the ratio
# Weight of earlier requests after each new one: the next request resembles the last, and two normal reports outweigh
# an odd one.
_FADE: Final = 3 / 4
# Weight of earlier cache reads: a provider whose cache failed is retried after some thirty requests.
_SLOW_FADE: Final = 0.97
_LARGEST: Final = 2.0**60  # upper bound of a plausible sum of tokens
_MISSES: Final = 2  # consecutive misses before one-hour entries are given up; one may be chance
_FEW_HOURS: Final = 1.5
_PRIOR_READS: Final = 4  # successful reads assumed in advance
_LOWEST_SHARE: Final = 2 / 3  # of o200k's tokens: no vocabulary needs fewer
# Windows are multiples of 1,024: a server reports exactly its window after cutting a prompt to it.
_WINDOW_STEP: Final = 1024
_CUT_SHARE: Final = 0.95
_FEWEST_TO_JUDGE: Final = 512  # shorter prompts vary too much with a server's own wrapping


class Endpoint(NamedTuple):
    """A model at an address."""

    provider: str
    model: str
    address: str = ""  # ``""``: the provider's default


class Learned(NamedTuple):
    """Weighted sums over the requests to an endpoint; older requests count less."""

    sent: float = 0.0
    reported: float = 0.0
    requests: float = 0.0
    expected: float = 0.0  # requests with an expected cache read
    failed: float = 0.0  # of these, reads below half of the expected tokens
    misses: float = 0.0  # consecutive failures
    hours: float = 0.0  # expected reads needing a one-hour entry
    hours_failed: float = 0.0
    first_piece: float = 0.0  # seconds until the first piece of an answer, 0 if unknown

    @property
    def miss_share(self) -> float:
        return self.failed / (self.expected + _PRIOR_READS)

    @property
    def distrusts_hours(self) -> bool:
        """Whether the endpoint often lost one-hour cache entries early."""
        never_held = self.hours_failed > max(_FEW_HOURS, self.hours / 2)
        return self.misses >= _MISSES or never_held

    def ratio(self, endpoint: Endpoint) -> TokenRatio:
        if not self.sent:
            return shipped_ratio(endpoint.provider, endpoint.model)
        requests = round(self.requests)
        many = f"{requests:,} requests" if requests != 1 else "one request"
        thousandths = ceil(round(self.reported) * 1000 / round(self.sent))
        bounded = min(max(thousandths, LOWEST), HIGHEST)
        return TokenRatio(bounded, f"as {endpoint.provider} has reported for {many}")

    def after(
        self, reply: Reply, *, sent: int, expected_read: int = 0, needs_hour: bool = False
    ) -> "Learned":
        """Return these sums with one more request.

        ``sent`` counts the request by o200k. With ``needs_hour`` a cache entry of five minutes would have expired
        before the request.
        """
        learned = self._replace(
            sent=self.sent * _FADE + sent,
            reported=self.reported * _FADE + _bounded(reply.usage.input, sent),
            requests=self.requests + 1,
        )
        if expected_read:
            has_failed = reply.usage.cache_read < expected_read / 2
            learned = learned._replace(
                expected=self.expected * _SLOW_FADE + 1,
                failed=self.failed * _SLOW_FADE + has_failed,
                misses=self.misses + 1 if has_failed else 0.0,
                hours=self.hours * _SLOW_FADE + needs_hour,
                hours_failed=self.hours_failed * _SLOW_FADE + (needs_hour and has_failed),
            )
        if reply.first_piece is None:
            return learned
        earlier = self.first_piece or reply.first_piece
        return learned._replace(first_piece=earlier * _FADE + reply.first_piece * (1 - _FADE))


NOTHING: Final = Learned()


def shipped_ratio(provider: str, model: str) -> TokenRatio:
    if provider == SCRIPTED:
        return OWN_COUNT
    model_facts = known_model(provider, model)
    if model_facts.ratio is None:
        return OWN_COUNT._replace(
            source=f"{OWN_COUNT.source}, since no ratio is known for this model"
        )
    return TokenRatio(
        model_facts.ratio,
        f"an estimate as of {model_facts.as_of}, used until {provider} has reported its own counts",
    )


def learned_of(endpoint: Endpoint) -> Learned:
    path = _path(endpoint.provider)
    return _rows(read_state(path)).get(endpoint, NOTHING) if path else NOTHING


def token_ratio(provider: str, model: str, address: str = "") -> TokenRatio:
    endpoint = Endpoint(provider, model, address)
    return learned_of(endpoint).ratio(endpoint)


def learn_from(
    endpoint: Endpoint, reply: Reply, *, sent: int, expected_read: int, needs_hour: bool
) -> tuple[str, ...]:
    """Store the statistics of a request unless the server has cut it; return warnings."""
    # What a server has cut says nothing about its vocabulary.
    return truncation_warning(sent, reply.usage.input, endpoint.provider) or record_reply(
        endpoint, reply, sent=sent, expected_read=expected_read, needs_hour=needs_hour
    )


def record_reply(
    endpoint: Endpoint, reply: Reply, *, sent: int, expected_read: int = 0, needs_hour: bool = False
) -> tuple[str, ...]:
    """Store the statistics of a request; return warnings."""
    provider, path, read = endpoint.provider, _path(endpoint.provider), reply.usage.input
    if path is None or not read or sent < _FEWEST_TOKENS:
        return ()

    def with_request(data: object) -> dict[str, Any]:
        rows = _rows(data)
        rows[endpoint] = rows.pop(endpoint, NOTHING).after(
            reply, sent=sent, expected_read=expected_read, needs_hour=needs_hour
        )
        newest = list(rows.items())[-_MOST_MODELS:]
        models = [{**endpoint._asdict(), **row._asdict()} for endpoint, row in newest]
        return {"version": _VERSION, "encoding": "o200k_base", "models": models}

    if problem := change_state(path, with_request):
        return (f"cannot save how {provider} counts tokens: {problem}",)
    reported = _bounded(read, sent)
    if reported == read:
        return ()
    return (
        f"{provider} reports {read:,} tokens where o200k has {sent:,}; no vocabulary differs so much, so "
        f"{reported:,} are used",
    )


def truncation_warning(sent: int, read: int, provider: str) -> tuple[str, ...]:
    """Return a warning if the server probably cut the prompt to the ``read`` tokens.

    Local servers do so silently, Ollama at 4,096 tokens.
    """
    if not read or sent < _FEWEST_TO_JUDGE:
        return ()
    equals_a_window = read % _WINDOW_STEP == 0 and read < sent * _CUT_SHARE
    if read >= sent * _LOWEST_SHARE and not equals_a_window:
        return ()
    return (
        f"{provider} has read {read:,} tokens of about {sent:,}: it has probably cut the prompt to its context window; "
        "give the server a larger window, or send less",
    )


def _bounded(reported: int, sent: int) -> int:
    return min(max(reported, sent * LOWEST // 1000), sent * HIGHEST // 1000)


def _rows(data: Any) -> dict[Endpoint, Learned]:  # noqa: ANN401 - JSON
    rows: dict[Endpoint, Learned] = {}
    try:
        for row in data["models"] if data["version"] == _VERSION else ():
            endpoint = Endpoint(*(str(row[name]) for name in Endpoint._fields))
            rows[endpoint] = Learned(*(_number(row[name]) for name in Learned._fields))
    except (ValueError, KeyError, TypeError):
        return {}
    return rows


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        raise ValueError("not a valid sum")
    return float(value)


def _path(provider: str) -> Path | None:
    folder = user_state_folder()
    return folder / LEARNED_FILE if folder and provider != SCRIPTED else None
