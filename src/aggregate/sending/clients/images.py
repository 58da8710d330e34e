"""Which images a model is sent, each with its tokens, and why others are only named in the prompt."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from aggregate.prompt.document import Image
from aggregate.sending.known_models import ImageRules, known_model

# Bytes of an image that is read at all: no provider takes a larger one in a request.
LARGEST_FILE: Final = 20_000_000


def accepted_images(
    images: Sequence[Image], provider: str, model: str
) -> tuple[Mapping[Image, int], tuple[str, ...]]:
    rules = known_model(provider, model).images
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
    if taken >= rules.most:
        return f"a request takes {rules.most:,} images; name fewer"
    if together > rules.together:
        return f"all images together have more than {rules.together:,} bytes in base64; name fewer"
    return ""
