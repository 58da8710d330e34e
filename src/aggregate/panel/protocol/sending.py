"""A plan of a request, and sending it."""

from typing import NotRequired, TypedDict


class PlanRequest(TypedDict):
    """``POST /api/send/plan``: ``model`` is ``provider/model`` or an alias; by default what the configuration says."""

    message: str
    model: NotRequired[str]
    persona: NotRequired[str]


class PlanBlock(TypedDict):
    """A block of the request."""

    role: str
    sources: list[str]
    tokens: int
    marked: bool


class PlanData(TypedDict):
    """What would be sent. ``POST /api/send`` needs ``plan``, which holds once and for the text that was planned.

    Attributes:
        plan: What names it.
        provider: Who is asked.
        model: Which model.
        address: Where, ``""`` for the provider's own address.
        tokens: By o200k.
        provider_tokens: By the provider's count.
        blocks: Of the request.
        cost: US dollars of the input as expected, ``null`` where unknown.
        cached: Tokens that are expected to be read from the cache.
        window: Of the model, ``null`` where unknown.
        key: Whether a key is there; without one it cannot be sent.
        lines: The plan as ``aggregate send --dry-run`` prints it.
        warnings: What is doubtful.
    """

    plan: str
    provider: str
    model: str
    address: str
    tokens: int
    provider_tokens: int
    blocks: list[PlanBlock]
    cost: float | None
    cached: int
    window: int | None
    key: bool
    lines: list[str]
    warnings: list[str]


class SendRequest(TypedDict):
    """``POST /api/send``; answered by a stream of server-sent events.

    Each event's data is JSON: ``text`` ``{"text": …}``, ``notice`` ``{"sentence": …}`` before a wait for the provider,
    ``done`` ``{"sentence": …}``, ``failed`` ``{"error": …}``. Whatever was paid for is kept in a file, also where the
    page goes away. ``POST /api/send/stop`` with the same body ends the request; the stream then ends with ``failed``.
    """

    plan: str
