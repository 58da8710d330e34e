"""Which images a model takes, and how many tokens each has: one dated table.

Sources: the providers' documentation of images, as read in November 2026. Where pages disagree, the smaller limit and
the larger count are taken. A model that is not known to take images gets none: the prompt's links to them stay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final

from aggregate.base.values import Image, api_family
from aggregate.sending.cache.policy import COMPATIBLE, SCRIPTED, longest_start

AS_OF: Final = "2026-11-22"
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
_TABLE: Final[Mapping[str, Mapping[str, ImageRules]]] = {
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
    table = _TABLE.get(api_family(provider, model))
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
