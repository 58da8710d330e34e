"""Screenshots go as image parts, counted by each provider's rule, where the model takes images."""

from typing import Any

import pytest

from aggregate import Prompt, ProviderError
from aggregate.prompt.document import Image
from aggregate.sending.clients import ChatRequest, anthropic_api, gemini_api, openai_api
from aggregate.sending.known_models import accepted_images, known_model
from tests.fakes.images import png
from tests.fakes.prompts import asking, part, plan_of, talk
from tests.fakes.transports import requests_of, scripted

IMAGES = tuple(Image(f"{name}.png", "image/png", name.encode(), 640, 480) for name in "ab")
SCREENSHOTS = "## Screenshots\n\n![a.png](a.png)\n\n![b.png](b.png)"
IN_BASE64 = ("YQ==", "Yg==")


def plan(
    provider: str, model: str, *, images: tuple[Image, ...] = IMAGES, question: str = "Why?"
) -> Any:
    """Plan a request of a file, two screenshots and a question."""
    history = [{"role": "User", "content": question}] if question else []
    segments = (
        part("files", "## Files\n\n### `a.py`", "a.py"),
        part("screenshots", SCREENSHOTS),
        *talk(history),
    )
    tokens = [3000, 20, 4, 5][: len(segments)]
    sizes = dict.fromkeys(images, 400)
    return plan_of(Prompt(segments), tokens, (provider, model), images=sizes)


def test_anthropic() -> None:
    """Images follow the section that names them."""
    request = asking(plan("anthropic", "claude-sonnet-5"), "m")
    (message,) = anthropic_api.request_body(request)["messages"]
    texts = [part for part in message["content"] if part["type"] == "text"]
    assert [part["text"] for part in texts] == [
        "## Files\n\n### `a.py`",
        f"\n\n{SCREENSHOTS}",
        "\n\n## Discussion History",
        "\n\nWhy?",
    ]
    images = message["content"][2:4]
    assert [image["source"] for image in images] == [
        {"type": "base64", "media_type": "image/png", "data": data} for data in IN_BASE64
    ]


def test_a_breakpoint_stands_behind_the_last_image() -> None:
    """A section that ends what is cached ends with its images."""
    request = asking(plan("anthropic", "claude-sonnet-5", question=""), "m")
    (message,) = anthropic_api.request_body(request)["messages"]
    assert [part.get("cache_control") for part in message["content"]][-3:] == [
        None,
        None,
        {"type": "ephemeral"},
    ]


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-4o"])
def test_openai(model: str) -> None:
    """Parts, also where a model's cache needs no breakpoints."""
    request = asking(plan("openai", model), model)
    (message,) = openai_api.request_body(request)["messages"]
    assert [
        part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"
    ] == [f"data:image/png;base64,{data}" for data in IN_BASE64]


def test_gemini() -> None:
    """The texts before and behind the images stay one part each."""
    from google.genai import types

    request = asking(plan("gemini", "gemini-3.5-flash"), "m")
    (content,) = gemini_api.request_body(request)["contents"]
    types.Content.model_validate(content)
    assert content["parts"] == [
        {"text": f"## Files\n\n### `a.py`\n\n{SCREENSHOTS}"},
        {"inline_data": {"mime_type": "image/png", "data": b"a"}},
        {"inline_data": {"mime_type": "image/png", "data": b"b"}},
        {"text": "\n\n## Discussion History\n\nWhy?"},
    ]


@pytest.mark.parametrize("provider", ["anthropic", "deepseek"])
def test_images_are_counted_and_hashed(provider: str) -> None:
    """Their tokens are part of the plan's; another image of the same name ends the prefix there."""
    before = plan(provider, "")
    other = Image("b.png", "image/png", b"c", 640, 480)
    after = plan(provider, "", images=(IMAGES[0], other))
    assert before.total == plan(provider, "", images=()).total + 800
    assert sum(block.tokens for block in before.blocks) == before.total
    assert before.text == after.text
    assert [a == b for a, b in zip(before.layout.digests, after.layout.digests, strict=True)] == [
        True, True, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "model", "size", "tokens"),
    [
        ("anthropic", "claude-sonnet-4-5", (1000, 1000), 1296),
        ("anthropic", "claude-sonnet-4-5", (4000, 3000), 1560),
        ("anthropic", "claude-opus-5", (4000, 3000), 4783),
        ("openai", "gpt-5.6", (1024, 1024), 1229),
        ("openai", "gpt-5.6", (8000, 8000), 3000),
        ("gemini", "gemini-3.5-flash", (4000, 3000), 1120),
    ],
)
def test_tokens_by_each_rule(provider: str, model: str, size: tuple[int, int], tokens: int) -> None:
    """The examples of the providers' pages, and sizes that are scaled down."""
    rules = known_model(provider, model).images
    assert rules is not None
    assert rules.tokens(*size) == pytest.approx(tokens, rel=0.02)


def image(width: int = 10, height: int = 10, *, padding: int = 0) -> Image:
    return Image("a.png", "image/png", png(width, height, padding=padding), width, height)


@pytest.mark.parametrize(
    ("images", "warnings"),
    [
        ([image(padding=4_000_000)], ["it has 5,333,", "make it smaller or save it as JPEG"]),
        ([image(8001)], ["it has 8,001 x 10 pixels, the limit is 8,000; make it smaller"]),
    ],
)
def test_what_is_too_large_is_only_named(images: list[Image], warnings: list[str]) -> None:
    """One sentence says what, where and what to do; the others are sent."""
    accepted, told = accepted_images(images, "anthropic", "claude-sonnet-5")
    assert (len(accepted), len(told)) == (len(images) - 1, 1)
    assert told[0].startswith("screenshot a.png is only named in the prompt: ")
    assert all(part in told[0] for part in warnings)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "compatible"])
def test_a_header_that_names_billions_of_pixels_blocks_no_request(provider: str) -> None:
    """Whatever a header says, an image has no more tokens than the provider makes of the largest one."""
    bomb = Image("bomb.png", "image/png", b"a", 2**32 - 1, 2**32 - 1)
    taken, _ = accepted_images([bomb], provider, "m")
    assert sum(taken.values()) <= 5_000


@pytest.mark.parametrize("provider", ["deepseek", "minimax"])
def test_models_without_eyes(provider: str) -> None:
    """Models that take text alone get the links, and the user is told."""
    assert accepted_images(IMAGES, provider, "m") == (
        {},
        (f"{provider} m takes no images: 2 screenshots are only named in the prompt",),
    )
    assert accepted_images((), provider, "m") == ({}, ())


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_that_refuses_images_gets_the_text(status: int) -> None:
    """It is asked once more with the links alone, and the reply says so."""

    def answer(request: Any) -> str:
        if request.plan.has_images:
            raise ProviderError("no images", status=status)
        return "I read."

    client = scripted(answer, "compatible", model="local")
    planned = plan("compatible", "local")
    reply = client.send(ChatRequest(plan=planned))
    assert (reply.text, reply.raw["text_alone"]) == ("I read.", True)
    assert requests_of(client)[-1].plan.text == planned.text


def test_another_failure_is_no_reason() -> None:
    """A key that is wrong stays wrong without images."""

    def answer(_: Any) -> Any:
        raise ProviderError("no key", status=401)

    client = scripted(answer, "compatible", model="local")
    with pytest.raises(ProviderError, match="no key"):
        client.send(ChatRequest(plan=plan("compatible", "local")))
