"""Kind and size of images by their headers."""

import pytest
from hypothesis import given, strategies as st

from aggregate.project.files import ImageHeader, read_image_header
from tests.fakes.images import gif, jpeg, png, webp


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(640, 480), "image/png"),
        (gif(640, 480), "image/gif"),
        (jpeg(640, 480), "image/jpeg"),
        (jpeg(640, 480, marker=0xC2), "image/jpeg"),
        (webp(640, 480), "image/webp"),
        (webp(640, 480, kind=b"VP8L"), "image/webp"),
        (webp(640, 480, kind=b"VP8 "), "image/webp"),
    ],
)
def test_each_kind(data: bytes, media_type: str) -> None:
    """Every kind that providers take is known by its content, with its width and height."""
    assert read_image_header(data) == ImageHeader(media_type, 640, 480)


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg/>", b"%PDF-1.7", png(0, 5), png(5, 5)[:20], jpeg(5, 5)[:14], b"\xff\xd8\xff", b"BM" + b"\0" * 60],
)  # fmt: skip
def test_what_is_no_image(data: bytes) -> None:
    """Other kinds, and headers that end early or name no size, are none."""
    assert read_image_header(data) is None


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8", b"GIF89a", b"RIFF1234WEBPVP8 "]))
def test_any_bytes_are_read(data: bytes, beginning: bytes) -> None:
    """Whatever a file holds, reading its header ends without an error."""
    header = read_image_header(beginning + data)
    assert header is None or min(header.width, header.height) > 0
