"""Table of models: caches, capabilities, image rules and token ratios.

Each row has its source and the date when it was read. Providers change minimum sizes monthly and their pages disagree.
So an unknown model gets the strictest rules of its provider, and the actual usage is always taken from the reply. A row
applies to its providers and to models whose names begin with one of its prefixes; longer prefixes take precedence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import ceil, sqrt
from typing import Any, Final, NamedTuple

from aggregate.prompt.document import Image
from aggregate.sending.models import (
    COMPATIBLE,
    GATEWAY,
    LARGEST_IMAGE,
    NO_CACHE,
    SCRIPTED,
    CacheLookup,
    CachePolicy,
)


class ResponseFormat(StrEnum):
    TEXT = "text"  # unsupported: the answer is free text
    OBJECT = "object"  # a JSON object; the prompt describes its schema
    SCHEMA = "schema"  # JSON of a schema


@dataclass(frozen=True, slots=True)
class ImageRules:
    tokens: Callable[[int, int], int]  # the provider's count by width and height in pixels
    largest: int = LARGEST_IMAGE  # bytes in base64, which adds a third
    longest: int = 0  # pixels of one side, 0 for any


def _patches(
    size: int, *, edge: int = 0, most: int, factor: float = 1.0
) -> Callable[[int, int], int]:
    def tokens(width: int, height: int) -> int:
        scale = min(1.0, edge / max(width, height)) if edge else 1.0
        scale = min(scale, sqrt(most * size * size / (width * height)))
        patches = ceil(width * scale / size) * ceil(height * scale / size)
        return ceil(min(patches, most) * factor)

    return tokens


# If pages disagree: the smaller limit and the larger count.
_COARSE: Final = ImageRules(_patches(28, edge=1568, most=1568), 5_000_000, 8000)
_FINE: Final = ImageRules(_patches(28, edge=2576, most=4784), 5_000_000, 8000)
_PATCHES: Final = ImageRules(_patches(32, most=2500, factor=1.2))
# Local servers differ; most of their models use patches of 28 pixels.
_OWN_SERVER: Final = ImageRules(_patches(28, most=4096))
_GEMINI: Final = ImageRules(lambda _width, _height: 1120)

# Values of ``providers``: any provider, or all listed ones except local servers.
ANY, KNOWN = "", "*"
_TEXT_IN, _OBJECT, _SCHEMA = ResponseFormat.TEXT, ResponseFormat.OBJECT, ResponseFormat.SCHEMA
_MARKS, _PREFIX = CacheLookup.BREAKPOINTS, CacheLookup.PREFIX


class Row(NamedTuple):
    providers: str  # separated by spaces
    models: str  # prefixes of names, ``""`` for all
    source: str
    as_of: str
    values: Mapping[str, Any]  # fields of ``CachePolicy`` and ``KnownModel``


# ``read`` and ``write`` are the prices of a cached and of a written token, relative to an input token; a test compares
# them with the price list. ``ratio`` is the provider's number of tokens per thousand of o200k. OpenAI's ratio is exact.
# The others are above the measured median, since a first prompt should rather be too short than too long; later prompts
# use the reported usage.
_CACHES, _PRICES, _API = "documentation of caches", "price list", "reference of the API"
_VISION, _COUNTS, _WINDOWS = "documentation of images", "comparisons of texts", "page of the model"
ROWS: Final = tuple(Row(*row) for row in (
    ("anthropic scripted", "", _CACHES, "2026-11-20", {"lookup": _MARKS, "max_breakpoints": 4, "look_back": 20, "minimum": 4096, "write": 1.25, "long_seconds": 3600}),
    ("openai", "", _CACHES, "2026-11-20", {"lookup": _PREFIX, "step": 128}),
    ("gemini", "", _CACHES, "2026-11-20", {"lookup": _PREFIX, "minimum": 4096}),
    ("deepseek", "", _CACHES, "2026-11-20", {"lookup": _PREFIX, "minimum": 64, "step": 64, "seconds": 3600, "read": 0.02}),
    ("minimax", "", _CACHES, "2026-11-20", {"lookup": _MARKS, "max_breakpoints": 4, "look_back": 20, "minimum": 512, "write": 1.25}),
    # Not all gateways pass on the lifetime of an hour.
    (GATEWAY, "claude", "documentation of gateways", "2026-11-20", {"long_seconds": 0}),
    # llama.cpp, vLLM and Ollama keep the longest common prefix in memory. Prices are times until the first word:
    # a llama.cpp server needs a fiftieth of the time for a cached token.
    (COMPATIBLE, "", "documentation of servers", "2026-11-28", {"lookup": _PREFIX, "minimum": 1, "seconds": 3600}),
    (KNOWN, "claude-opus-5 claude-fable-5 claude-mythos-5", _CACHES, "2026-11-20", {"minimum": 512}),
    (KNOWN, "claude-sonnet-5 claude-sonnet-4 claude-opus-4", _CACHES, "2026-11-20", {"minimum": 1024}),
    (KNOWN, "claude-opus-4-5 claude-opus-4-6", _CACHES, "2026-11-20", {"minimum": 4096}),
    (KNOWN, "claude-opus-4-7", _CACHES, "2026-11-20", {"minimum": 2048}),
    # Since 5.6 a prefix is found only at the request's breakpoints.
    (KNOWN, "gpt-5.6 gpt-5.7 gpt-5.8 gpt-5.9 gpt-6", _CACHES, "2026-11-20", {"lookup": _MARKS, "max_breakpoints": 4, "step": 1, "seconds": 1800, "write": 1.25}),
    (KNOWN, "gemini-3-flash", _CACHES, "2026-11-20", {"minimum": 1024}),
    (KNOWN, "gemini-2.5-flash", _CACHES, "2026-11-20", {"minimum": 2048}),
    (KNOWN, "claude-opus-5-5 claude-sonnet-5-5", _PRICES, "2026-11-20", {"read": 0.05, "write": 1.25}),
    (KNOWN, "claude-fable-5-1 claude-fable-5-2 claude-mythos-5-2", _PRICES, "2026-11-20", {"read": 0.025, "write": 1.25}),
    (KNOWN, "claude-3-haiku", _PRICES, "2026-11-20", {"read": 0.12, "write": 1.2}),
    (KNOWN, "deepseek-v4-pro", _PRICES, "2026-11-20", {"read": 0.033}),
    (KNOWN, "deepseek-chat deepseek-reasoner", _PRICES, "2026-11-20", {"read": 0.26, "write": 1.0}),
    (KNOWN, "deepseek-v3.1", _PRICES, "2026-11-20", {"read": 0.48, "write": 1.0}),
    (KNOWN, "gemini-1.5-flash gemini-2.0-flash gemini-flash-1.5 gemini-pro-1.5", _PRICES, "2026-11-20", {"read": 0.25, "write": 1.0}),
    (KNOWN, "gemini-flash-1.5-8b", _PRICES, "2026-11-20", {"read": 0.27, "write": 1.0}),
    (KNOWN, "gemini-4-argon", _PRICES, "2026-11-20", {"read": 0.05, "write": 1.0}),
    (KNOWN, "gpt-4.1 codex-mini o3 o4-mini", _PRICES, "2026-11-20", {"read": 0.25, "write": 1.0}),
    (KNOWN, "gpt-4.5 gpt-4o o1 o3-mini", _PRICES, "2026-11-20", {"read": 0.5, "write": 1.0}),
    (KNOWN, "gpt-6.1-sol gpt-6.1-terra", _PRICES, "2026-11-20", {"read": 0.05, "write": 1.25}),
    (KNOWN, "minimax-m2.7", _PRICES, "2026-11-20", {"read": 0.2}),
    (KNOWN, "minimax-m2.1-highspeed minimax-m2.5-highspeed", _PRICES, "2026-11-20", {"read": 0.05, "write": 0.625}),
    (KNOWN, "minimax-m2.7-highspeed", _PRICES, "2026-11-20", {"read": 0.1, "write": 0.625}),
    (KNOWN, "minimax-m3", _PRICES, "2026-11-20", {"read": 0.2, "write": 1.0}),
    (KNOWN, "minimax-m3.1-flash", _PRICES, "2026-11-20", {"read": 0.1, "write": 1.0}),
    # The newest models of Anthropic and OpenAI refuse a temperature.
    ("anthropic", "", _API, "2026-11-20", {"response_format": _SCHEMA, "takes_effort": True}),
    ("anthropic", "claude-haiku-4 claude-sonnet-4 claude-opus-4", _API, "2026-11-20", {"takes_effort": False}),
    ("anthropic", "claude-sonnet-4-6 claude-opus-4-5 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8", _API, "2026-11-20", {"takes_effort": True}),
    ("openai", "", _API, "2026-11-20", {"response_format": _SCHEMA, "takes_effort": True}),
    ("openai", "gpt-4o gpt-4.1", _API, "2026-11-20", {"takes_effort": False, "lowest_temperature": 0.0}),
    # Google says that Gemini 3 may loop below its default temperature.
    ("gemini", "", _API, "2026-11-20", {"response_format": _SCHEMA, "lowest_temperature": 0.0}),
    ("gemini", "gemini-3 gemini-4", _API, "2026-11-20", {"takes_effort": True, "lowest_temperature": None}),
    ("deepseek", "", _API, "2026-11-20", {"response_format": _OBJECT, "lowest_temperature": 0.0}),
    ("minimax", "", _API, "2026-11-20", {"response_format": _TEXT_IN, "lowest_temperature": 0.01}),
    (f"{COMPATIBLE} {SCRIPTED}", "", _API, "2026-11-20", {"response_format": _SCHEMA, "lowest_temperature": 0.0, "takes_effort": True}),
    (f"anthropic openai gemini deepseek minimax {COMPATIBLE} {GATEWAY} {SCRIPTED}", "", _API, "2026-11-27", {"takes_tools": True}),
    # Models without a row get no images; DeepSeek's and MiniMax's accept only text.
    (f"anthropic {SCRIPTED}", "", _VISION, "2026-11-22", {"images": _FINE}),
    ("anthropic", "claude-3 claude-haiku-4 claude-sonnet-4 claude-opus-4", _VISION, "2026-11-22", {"images": _COARSE}),
    ("anthropic", "claude-opus-4-7 claude-opus-4-8", _VISION, "2026-11-22", {"images": _FINE}),
    ("openai", "", _VISION, "2026-11-22", {"images": _PATCHES}),
    ("gemini", "", _VISION, "2026-11-22", {"images": _GEMINI}),
    (COMPATIBLE, "", _VISION, "2026-11-22", {"images": _OWN_SERVER}),
    (ANY, "chatgpt codex gpt- o1 o3 o4", "its vocabulary", "2026-11-22", {"ratio": 1000}),
    # Up to Claude 4.6: 1.16 for English prose, 1.2 to 1.3 for code. Later models use up to 1.35 times as many.
    (ANY, "claude", _COUNTS, "2026-11-22", {"ratio": 1250}),
    (ANY, "claude-haiku-5 claude-sonnet-5 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-fable claude-mythos", _COUNTS, "2026-11-22", {"ratio": 1500}),
    (ANY, "deepseek", _COUNTS, "2026-11-22", {"ratio": 1100}),
    (ANY, "gemini", _COUNTS, "2026-11-22", {"ratio": 1150}),
    (ANY, "minimax", _COUNTS, "2026-11-22", {"ratio": 1050}),
    # Context windows missing or wrong in the price list.
    (ANY, "gemini-2.5 gemini-3", _WINDOWS, "2026-11-20", {"window": 1_048_576}),
    (ANY, "deepseek-chat deepseek-reasoner", _WINDOWS, "2026-11-20", {"window": 131_072}),
    (ANY, "deepseek-flash deepseek-v4", _WINDOWS, "2026-11-20", {"window": 1_000_000}),
    (ANY, "minimax-m2", _WINDOWS, "2026-11-20", {"window": 204_800}),
))  # fmt: skip
AS_OF: Final = max(row.as_of for row in ROWS if row.source == _PRICES)
_PROVIDERS: Final = frozenset(name for row in ROWS for name in row.providers.split()) - {KNOWN}


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The cache of a model, and the options it accepts."""

    cache: CachePolicy = NO_CACHE
    lowest_temperature: float | None = None  # ``None`` if the temperature must not be set
    response_format: ResponseFormat = ResponseFormat.TEXT
    takes_effort: bool = False
    takes_tools: bool = False  # else tool calls are plain text
    images: ImageRules | None = None
    ratio: int | None = None  # thousandths
    window: int | None = None
    as_of: str = AS_OF  # when the ratio was read


def bare_model_name(model: str) -> str:
    """Return a model's name in lower case, without host prefixes.

    ``us.anthropic.claude-opus-5-v1:0`` becomes ``claude-opus-5-v1:0``.
    """
    name = model.lower().rsplit("/", 1)[-1]
    return name.rpartition("anthropic.")[2] or name


@lru_cache(maxsize=200)
def known_model(provider: str, model: str) -> KnownModel:
    name, maker = bare_model_name(model), provider
    if provider == GATEWAY:
        maker = "anthropic" if name.startswith("claude") else COMPATIBLE
    applies = {ANY, provider, maker} | ({KNOWN} if maker in _PROVIDERS - {COMPATIBLE} else set())
    fitting = [
        (len(start), row)
        for row in ROWS
        if applies & set(row.providers.split() or (ANY,))
        for start in row.models.split() or ("",)
        if name.startswith(start)
    ]
    values: dict[str, Any] = {}
    for _, row in sorted(fitting, key=lambda pair: pair[0]):
        values.update(row.values)
        if "ratio" in row.values:
            values["as_of"] = row.as_of
    policy = {key: values.pop(key) for key in CachePolicy.__slots__ if key in values}
    return KnownModel(CachePolicy(**policy) if policy else NO_CACHE, **values)


def accepted_images(
    images: Sequence[Image], provider: str, model: str
) -> tuple[Mapping[Image, int], tuple[str, ...]]:
    rules = known_model(provider, model).images
    if not images:
        return {}, ()
    if rules is None:
        name = f"{provider} {model}".strip()
        number = "the screenshot is" if len(images) == 1 else f"{len(images):,} screenshots are"
        return {}, (f"{name} takes no images: {number} only named in the prompt",)
    problems = {image: _problem(image, rules) for image in images}
    warnings = tuple(
        f"screenshot {image.path} is only named in the prompt: {problem}"
        for image, problem in problems.items()
        if problem
    )
    valid = [image for image in images if not problems[image]]
    return {image: rules.tokens(image.width, image.height) for image in valid}, warnings


def _problem(image: Image, rules: ImageRules) -> str:
    size = 4 * ceil(len(image.data) / 3)
    if size > rules.largest:
        return f"it has {size:,} bytes in base64, the limit is {rules.largest:,}; make it smaller or save it as JPEG"
    if rules.longest and max(image.width, image.height) > rules.longest:
        return f"it has {image.width:,} x {image.height:,} pixels, the limit is {rules.longest:,}; make it smaller"
    return ""
