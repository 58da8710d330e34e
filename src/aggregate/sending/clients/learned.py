"""What was learned of each model where it is reached: how it counts, what its cache keeps, how soon it answers.

It lies in the user's own state folder and is no more than a forecast: what was read and paid is taken from the reply.
"""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.writing import user_state_folder
from aggregate.sending.clients.own_models import HIGHEST, LOWEST, TokenRatio, shipped_ratio
from aggregate.sending.kept import change_kept, read_kept
from aggregate.sending.models import SCRIPTED, Usage

LEARNED_FILE: Final = "learned_models.json"
_VERSION: Final = 1
_MOST_MODELS: Final = 200  # more than anybody asks; the ones that were asked longest ago go first
_FEWEST_TOKENS: Final = 200  # below, what a server puts around a message weighs too much
# What earlier requests count after one more: what is sent now is most like what was sent last, and one odd report is
# outweighed after two others.
_FADE: Final = 3 / 4
# Of what a cache has kept: a provider that has failed is tried again after some thirty requests.
_SLOW_FADE: Final = 0.97
_LARGEST: Final = 2.0**60  # no sum of tokens is larger
_MISSES: Final = 2  # in a row, after which nobody pays for an hour; one alone may be chance
_FEW_HOURS: Final = 1.5
# Requests that are taken to have read what was expected before any was seen.
_PRIOR_READS: Final = 4
# How much a thousand tokens of each kind, by the whole ratio, count beside what was reported.
_RIDGE: Final = 4.0


class Kinds(NamedTuple):
    """Tokens of o200k by kind of text: vocabularies differ more in code than in prose."""

    code: int = 0
    words: int = 0


class Place(NamedTuple):
    """A model where it is reached."""

    provider: str
    model: str
    address: str = ""  # ``""`` for the provider's own


class Learned(NamedTuple):
    """Sums over requests, older ones faded."""

    sent: float = 0.0
    reported: float = 0.0
    requests: float = 0.0
    # Of thousands of tokens: code by code, code by words, words by words, code and words by what was reported
    squares: tuple[float, ...] = (0.0,) * 5
    expected: float = 0.0  # requests that were expected to read from a cache
    failed: float = 0.0  # those of them that read less than half of it
    misses: float = 0.0  # in a row
    hours: float = 0.0  # expected reads that only an entry of an hour could give
    hours_failed: float = 0.0
    # Seconds until the first piece of an answer came, 0 where none is known
    first_piece: float = 0.0

    @property
    def miss_share(self) -> float:
        return self.failed / (self.expected + _PRIOR_READS)

    @property
    def distrusts_hours(self) -> bool:
        """Whether an entry of an hour is not worth its price here."""
        never_held = self.hours_failed > max(_FEW_HOURS, self.hours / 2)
        return self.misses >= _MISSES or never_held

    def ratio(self, place: Place) -> TokenRatio:
        if not self.sent:
            return shipped_ratio(place.provider, place.model)
        requests = round(self.requests)
        many = f"{requests:,} requests" if requests != 1 else "one request"
        thousandths = ceil(round(self.reported) * 1000 / round(self.sent))
        return TokenRatio(thousandths, f"as {place.provider} has reported for {many}")

    def ratios(self, place: Place) -> tuple[float, float]:
        """Return the provider's tokens for one of ours, of code and of words.

        They are the least squares of what was reported, drawn to the ratio of all as long as little is known.
        """
        usual = self.ratio(place).value
        aa, ab, bb, ay, by = self.squares
        aa, bb, ay, by = aa + _RIDGE, bb + _RIDGE, ay + _RIDGE * usual, by + _RIDGE * usual
        divisor = aa * bb - ab * ab
        both = (ay * bb - by * ab) / divisor, (by * aa - ay * ab) / divisor
        code, words = (min(max(one, LOWEST / 1000), HIGHEST / 1000) for one in both)
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
        """``needs_hour``: an entry of five minutes would have been gone by then."""
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


def learned_of(place: Place) -> Learned:
    path = _path(place.provider)
    return _rows(read_kept(path)).get(place, NOTHING) if path else NOTHING


def token_ratio(provider: str, model: str, address: str = "") -> TokenRatio:
    place = Place(provider, model, address)
    return learned_of(place).ratio(place)


def record_usage(
    place: Place,
    sent: Kinds,
    usage: Usage,
    *,
    learn: Callable[[Learned], Learned] = lambda learned: learned,
) -> tuple[str, ...]:
    """Keep what a provider reports for ``sent`` tokens of ours; return a sentence where that is odd or not kept.

    ``learn`` adds what else the request has told.
    """
    provider, path, total = place.provider, _path(place.provider), sum(sent)
    if path is None or not usage.input or total < _FEWEST_TOKENS:
        return ()

    def with_request(data: object) -> dict[str, Any]:
        rows = _rows(data)
        rows[place] = learn(rows.pop(place, NOTHING).after_tokens(sent, usage))
        newest = list(rows.items())[-_MOST_MODELS:]
        models = [{**place._asdict(), **row._asdict()} for place, row in newest]
        return {"version": _VERSION, "encoding": "o200k_base", "models": models}

    if problem := change_kept(path, with_request):
        return (f"how {provider} counts tokens is not kept: {problem}",)
    reported = _bounded(usage.input, total)
    if reported == usage.input:
        return ()
    return (
        f"{provider} reports {usage.input:,} tokens where o200k has {total:,}, which is no matter of its vocabulary: "
        f"taken as {reported:,}",
    )


def _bounded(reported: int, sent: int) -> int:
    return min(max(reported, sent * LOWEST // 1000), sent * HIGHEST // 1000)


def _rows(data: Any) -> dict[Place, Learned]:  # noqa: ANN401 - JSON
    rows: dict[Place, Learned] = {}
    try:
        for row in data["models"] if data["version"] == _VERSION else ():
            place = Place(*(str(row[name]) for name in Place._fields))
            squares = tuple(map(_number, row["squares"]))
            if len(squares) == len(NOTHING.squares):
                sums = {name: _number(row[name]) for name in Learned._fields if name != "squares"}
                rows[place] = Learned(**sums, squares=squares)
    except (ValueError, KeyError, TypeError):
        return {}
    return rows


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        raise ValueError("is no sum")
    return float(value)


def _path(provider: str) -> Path | None:
    folder = user_state_folder()
    is_kept = folder and provider != SCRIPTED  # which counts as we do
    return folder / LEARNED_FILE if folder and is_kept else None
