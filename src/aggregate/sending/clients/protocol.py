"""What each model takes, and the two ports: a client to its callers, and a provider's adapter to the client."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, sqrt
from typing import Any, Final, Protocol, TypedDict, Unpack

from aggregate.prompt.document import Image, Prompt
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.calls import LoopTurn, OfferedTool
from aggregate.sending.models import COMPATIBLE, SCRIPTED, Reply, api_family, longest_start


class ResponseFormat(StrEnum):
    TEXT = "text"  # not at all: the answer is read as it comes
    OBJECT = "object"  # some JSON object; which one is said in the text
    SCHEMA = "schema"  # JSON of that schema


class Effort(StrEnum):
    """How long a model thinks before it answers, in the words that the providers share."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes; there is no lowest temperature where none may be set or none should."""

    lowest_temperature: float | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    takes_effort: bool = False
    takes_tools: bool = True  # else calls are written and read as text

    def temperature(self, requested: float | None) -> float | None:
        if requested is None or self.lowest_temperature is None:
            return None
        return max(requested, self.lowest_temperature)


_TYPED: Final = Capabilities(response_format=ResponseFormat.SCHEMA)
_COOLED: Final = replace(_TYPED, lowest_temperature=0.0)
_THINKING: Final = replace(_TYPED, takes_effort=True)
_ALL: Final = replace(_COOLED, takes_effort=True)
# By provider and the beginning of the model's name; the longest one that fits holds.
_CAPABILITIES: Final[Mapping[str, Mapping[str, Capabilities]]] = {
    # The newest models of Anthropic and OpenAI refuse a temperature, and Anthropic's SDK has lost the word.
    "anthropic": {
        "": _THINKING,
        **dict.fromkeys(("claude-haiku-4", "claude-sonnet-4", "claude-opus-4"), _TYPED),
        "claude-sonnet-4-6": _THINKING,
        **{f"claude-opus-4-{minor}": _THINKING for minor in (5, 6, 7, 8)},
    },
    "openai": {"": _THINKING, "gpt-4o": _COOLED, "gpt-4.1": _COOLED},
    # Google: below its own temperature Gemini 3 may loop.
    "gemini": {"": _COOLED, "gemini-3": _THINKING, "gemini-4": _THINKING},
    "deepseek": {"": Capabilities(0.0, ResponseFormat.OBJECT)},
    "minimax": {"": Capabilities(0.01)},
    "compatible": {"": _ALL},
    "scripted": {"": _ALL},
}


def capabilities_of(provider: str, model: str) -> Capabilities:
    table = _CAPABILITIES.get(api_family(provider, model), {"": Capabilities(takes_tools=False)})
    return table[longest_start(model, table)]


def takes_tools(provider: str, model: str) -> bool:
    return capabilities_of(provider, model).takes_tools


def unused_options(provider: str, model: str, options: "RequestOptions") -> tuple[str, ...]:
    capabilities = capabilities_of(provider, model)
    asked, wanted = f"{provider} {model}".strip(), options.temperature
    warnings = []
    if options.effort is not None and not capabilities.takes_effort:
        warnings.append(f"{asked} takes no effort: {options.effort.value} is left out")
    taken = capabilities.temperature(wanted)
    if wanted is not None and taken is None:
        warnings.append(f"{asked} takes no temperature: {wanted:g} is left out")
    elif wanted is not None and taken != wanted:
        warnings.append(f"{asked} takes no temperature of {wanted:g}: {taken:g} is sent")
    return tuple(warnings)


# Which images a model takes, and how many tokens each has. Sources: the providers' documentation of images, as read on
# 2026-11-22. Where pages disagree, the smaller limit and the larger count are taken. A model that is not known to take
# images gets none: the prompt's links to them stay.
# Bytes of an image that is read at all: no provider takes a larger one in a request.
LARGEST_FILE: Final = 20_000_000

_MOST_PIXELS: Final = 178_956_970  # Pillow refuses more as a bomb; a header alone may name billions


@dataclass(frozen=True, slots=True)
class ImageRules:
    # Of an image of a width and height in pixels, by the provider's count
    tokens: Callable[[int, int], int]
    largest: int  # bytes of one image as they are sent: in base64, a third more than the file
    longest: int  # pixels of one side, 0 for any
    most: int  # images of a request
    together: int  # bytes of all images of a request, as they are sent


def _patches(
    size: int, *, edge: int = 0, most: int, factor: float = 1.0
) -> Callable[[int, int], int]:
    def tokens(width: int, height: int) -> int:
        scale = min(1.0, edge / max(width, height)) if edge else 1.0
        scale = min(scale, sqrt(most * size * size / (width * height)))
        patches = ceil(width * scale / size) * ceil(height * scale / size)
        return ceil(min(patches, most) * factor)

    return tokens


def _tiles_of_512(width: int, height: int) -> int:
    """Return the tokens by OpenAI's older rule: fitted into 2,048 pixels, the short side scaled to 768."""
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return 85 + 170 * ceil(width * scale / 512) * ceil(height * scale / 512)


def _tiles_of_768(width: int, height: int) -> int:
    """Return the tokens by Gemini's rule before 3: 258 for a small image, else for each tile."""
    if max(width, height) <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


_ANTHROPIC_FINE: Final = ImageRules(
    _patches(28, edge=2576, most=4784), 5_000_000, 8000, 20, 24_000_000
)
_ANTHROPIC: Final = ImageRules(_patches(28, edge=1568, most=1568), 5_000_000, 8000, 20, 24_000_000)
_OPENAI: Final = ImageRules(_patches(32, most=2500, factor=1.2), 20_000_000, 0, 500, 50_000_000)
_OPENAI_TILES: Final = ImageRules(_tiles_of_512, 20_000_000, 0, 500, 50_000_000)
_GEMINI: Final = ImageRules(_tiles_of_768, 20_000_000, 0, 500, 20_000_000)
_GEMINI_3: Final = ImageRules(lambda _width, _height: 1120, 20_000_000, 0, 500, 20_000_000)
# Servers of one's own differ; most of their models see patches of 28 pixels.
_COMPATIBLE: Final = ImageRules(_patches(28, most=4096), 20_000_000, 0, 100, 50_000_000)
# By provider and the beginning of the model's name; the longest one that fits holds. DeepSeek's and MiniMax's models
# take text alone, and the program ``gemini`` reads text alone.
_IMAGE_RULES: Final[Mapping[str, Mapping[str, ImageRules]]] = {
    "anthropic": {
        "": _ANTHROPIC_FINE,
        "claude-3": _ANTHROPIC,
        "claude-haiku-4": _ANTHROPIC,
        "claude-sonnet-4": _ANTHROPIC,
        "claude-opus-4": _ANTHROPIC,
        "claude-opus-4-7": _ANTHROPIC_FINE,
        "claude-opus-4-8": _ANTHROPIC_FINE,
    },
    "openai": {"": _OPENAI, "gpt-4o": _OPENAI_TILES, "gpt-4.1": _OPENAI_TILES},
    "gemini": {"": _GEMINI_3, "gemini-2": _GEMINI},
    COMPATIBLE: {"": _COMPATIBLE},
    SCRIPTED: {"": _ANTHROPIC_FINE},
}


def image_rules(provider: str, model: str) -> ImageRules | None:
    table = _IMAGE_RULES.get(api_family(provider, model))
    return table[longest_start(model, table)] if table else None


def accepted_images(
    images: Sequence[Image], provider: str, model: str
) -> tuple[Mapping[Image, int], tuple[str, ...]]:
    rules = image_rules(provider, model)
    if not images:
        return {}, ()
    if rules is None:
        asked = f"{provider} {model}".strip()
        many = "the screenshot is" if len(images) == 1 else f"{len(images):,} screenshots are"
        return {}, (f"{asked} takes no images: {many} only named in the prompt",)
    taken: dict[Image, int] = {}
    warnings = []
    together = 0
    for image in images:
        size = 4 * ceil(len(image.data) / 3)
        if problem := _problem(image, size, rules, taken=len(taken), together=together + size):
            warnings.append(f"screenshot {image.path} is only named in the prompt: {problem}")
        else:
            taken[image] = rules.tokens(image.width, image.height)
            together += size
    return taken, tuple(warnings)


def _problem(image: Image, size: int, rules: ImageRules, *, taken: int, together: int) -> str:
    if size > rules.largest:
        return f"it has {size:,} bytes in base64, the most is {rules.largest:,}; make it smaller or save it as JPEG"
    if rules.longest and max(image.width, image.height) > rules.longest:
        return f"it has {image.width:,} x {image.height:,} pixels, the most is {rules.longest:,}; make it smaller"
    if image.width * image.height > _MOST_PIXELS:
        return f"it has {image.width:,} x {image.height:,} pixels, more than {_MOST_PIXELS:,}; make it smaller"
    if taken >= rules.most:
        return f"a request takes {rules.most:,} images; name fewer"
    if together > rules.together:
        return f"all images together have more than {rules.together:,} bytes in base64; name fewer"
    return ""


OnText = Callable[[str], None]  # called with each piece of the answer as it comes


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request needs beside the prompt and the message.

    Attributes:
        system: The instructions that go before everything.
        max_output: The most tokens that the model may write.
        earlier: The layout of the last request of the same discussion.
        temperature: How freely the model chooses its words; left out where a provider takes none.
        schema: JSON schema of the answer. Every object in it names all its properties as required and allows no others,
            which all providers understand. Where a provider knows no schemas the answer is free text.
        seconds: How long everything may take, waits between attempts included; ``None`` for the adapter's own limit.
        effort: How long the model thinks before it answers; left out where a provider cannot be told.
        tools: What the model may call instead of an answer.
        turns: What was said and called since the message, of a loop with tools; ``None`` where there is no loop.
    """

    system: str = ""
    max_output: int = 16_000
    earlier: BlockLayout | None = None
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    effort: Effort | None = None
    tools: tuple[OfferedTool, ...] = ()
    turns: tuple[LoopTurn, ...] | None = None


DEFAULT_OPTIONS: Final = RequestOptions()  # no instructions, the usual limits, nothing sent before


def loop_texts(options: RequestOptions) -> Iterator[str]:
    """Yield the texts of a loop with tools, which are counted beside the prompt."""
    for tool in options.tools:
        yield f"{tool.name} {tool.description} {json.dumps(tool.parameters)}"
    for turn in options.turns or ():
        yield turn.text
        yield from (json.dumps(dict(result.call.arguments)) for result in turn.results)
        yield turn.told


class SendOptions(TypedDict, total=False):
    model: str  # ``""`` for the client's own choice
    on_text: OnText | None
    options: RequestOptions


class ChatClient(Protocol):
    def send(self, prompt: Prompt, message: str, **asked: Unpack[SendOptions]) -> Reply: ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an adapter sends; its provider takes all of it, and what is ``None`` is left to the model."""

    plan: RequestPlan
    model: str
    max_output: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    effort: Effort | None = None
    seconds: float | None = None  # as ``RequestOptions`` has it
    tools: tuple[OfferedTool, ...] = ()

    @property
    def beside_text(self) -> tuple[str, ...]:
        parts = {
            "images": self.plan.has_images,
            "a temperature": self.temperature is not None,
            "an effort": self.effort is not None,
            "a schema": self.response_format is not ResponseFormat.TEXT,
        }
        return tuple(name for name, is_sent in parts.items() if is_sent)

    @property
    def text_only(self) -> "ModelRequest":
        plan = self.plan
        if plan.has_images:
            plan = replace(plan, blocks=tuple(block for block in plan.blocks if not block.image))
        # Tools stay: what was called before makes no sense without them.
        return ModelRequest(
            plan, self.model, self.max_output, seconds=self.seconds, tools=self.tools
        )


class Transport(Protocol):
    """A provider's adapter: one exchange, without retries."""

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply: ...
