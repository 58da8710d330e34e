"""Statistics per model and address.

They cover token counts, cache reads and latency. They are stored in the user's state folder and only used for
forecasts; the bill uses the usage in the reply.
"""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.writing import user_state_folder
from aggregate.sending.clients.own_models import HIGHEST, LOWEST, TokenRatio, shipped_ratio
from aggregate.sending.models import SCRIPTED, Usage
from aggregate.sending.user_state import change_state, read_state

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
# Weight of the overall ratio, in thousands of tokens of each kind, beside the reports.
_RIDGE: Final = 4.0


class Kinds(NamedTuple):
    """Tokens (o200k) of code and of other words, since vocabularies differ more in code."""

    code: int = 0
    words: int = 0


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
    # Products in thousands of tokens: code², code·words, words², code·reported, words·reported
    squares: tuple[float, ...] = (0.0,) * 5
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
        return TokenRatio(thousandths, f"as {endpoint.provider} has reported for {many}")

    def ratios(self, endpoint: Endpoint) -> tuple[float, float]:
        """Return the provider's tokens per token of o200k.

        The first ratio is for code, the second for words. Both come from a ridge regression over the reports, drawn
        towards the overall ratio.
        """
        overall = self.ratio(endpoint).value
        aa, ab, bb, ay, by = self.squares
        aa, bb, ay, by = aa + _RIDGE, bb + _RIDGE, ay + _RIDGE * overall, by + _RIDGE * overall
        divisor = aa * bb - ab * ab
        both = (ay * bb - by * ab) / divisor, (by * aa - ay * ab) / divisor
        code, words = (min(max(ratio, LOWEST / 1000), HIGHEST / 1000) for ratio in both)
        return code, words

    def after_tokens(self, sent: Kinds, usage: Usage) -> "Learned":
        total = sum(sent)
        reported = _bounded(usage.input, total)
        a, b, y = sent.code / 1000, sent.words / 1000, reported / 1000
        added = (a * a, a * b, b * b, a * y, b * y)
        pairs = zip(self.squares, added, strict=True)
        return self._replace(
            sent=self.sent * _FADE + total,
            reported=self.reported * _FADE + reported,
            requests=self.requests + 1,
            squares=tuple(old * _FADE + new for old, new in pairs),
        )

    def after_read(self, *, expected: int, read: int, needs_hour: bool) -> "Learned":
        """Return these sums with one more cache read.

        The request read ``read`` of ``expected`` cached tokens. With ``needs_hour`` a cache entry of five minutes would
        have expired before the request.
        """
        has_failed = read < expected / 2
        return self._replace(
            expected=self.expected * _SLOW_FADE + 1,
            failed=self.failed * _SLOW_FADE + has_failed,
            misses=self.misses + 1 if has_failed else 0.0,
            hours=self.hours * _SLOW_FADE + needs_hour,
            hours_failed=self.hours_failed * _SLOW_FADE + (needs_hour and has_failed),
        )

    def after_piece(self, seconds: float) -> "Learned":
        earlier = self.first_piece or seconds
        return self._replace(first_piece=earlier * _FADE + seconds * (1 - _FADE))


NOTHING: Final = Learned()


def learned_of(endpoint: Endpoint) -> Learned:
    path = _path(endpoint.provider)
    return _rows(read_state(path)).get(endpoint, NOTHING) if path else NOTHING


def token_ratio(provider: str, model: str, address: str = "") -> TokenRatio:
    endpoint = Endpoint(provider, model, address)
    return learned_of(endpoint).ratio(endpoint)


def record_usage(
    endpoint: Endpoint,
    sent: Kinds,
    usage: Usage,
    *,
    learn: Callable[[Learned], Learned] = lambda learned: learned,
) -> tuple[str, ...]:
    """Store the reported usage of a request; return warnings.

    ``sent`` counts the request by o200k; ``learn`` adds further statistics.
    """
    provider, path, total = endpoint.provider, _path(endpoint.provider), sum(sent)
    if path is None or not usage.input or total < _FEWEST_TOKENS:
        return ()

    def with_request(data: object) -> dict[str, Any]:
        rows = _rows(data)
        rows[endpoint] = learn(rows.pop(endpoint, NOTHING).after_tokens(sent, usage))
        newest = list(rows.items())[-_MOST_MODELS:]
        models = [{**endpoint._asdict(), **row._asdict()} for endpoint, row in newest]
        return {"version": _VERSION, "encoding": "o200k_base", "models": models}

    if problem := change_state(path, with_request):
        return (f"cannot save how {provider} counts tokens: {problem}",)
    reported = _bounded(usage.input, total)
    if reported == usage.input:
        return ()
    return (
        f"{provider} reports {usage.input:,} tokens where o200k has {total:,}; no vocabulary differs so much, so "
        f"{reported:,} are used",
    )


def _bounded(reported: int, sent: int) -> int:
    return min(max(reported, sent * LOWEST // 1000), sent * HIGHEST // 1000)


def _rows(data: Any) -> dict[Endpoint, Learned]:  # noqa: ANN401 - JSON
    rows: dict[Endpoint, Learned] = {}
    try:
        for row in data["models"] if data["version"] == _VERSION else ():
            endpoint = Endpoint(*(str(row[name]) for name in Endpoint._fields))
            squares = tuple(map(_number, row["squares"]))
            if len(squares) == len(NOTHING.squares):
                sums = {name: _number(row[name]) for name in Learned._fields if name != "squares"}
                rows[endpoint] = Learned(**sums, squares=squares)
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
