"""The section of screenshots."""

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, strategies as st
from tests.rendering import headings, images, top_level

from aggregate.base.values import Screenshot
from aggregate.prompt.layout import screenshots_section


def links(*paths: str) -> str:
    """Return the section's text below its heading."""
    return screenshots_section([Screenshot(path) for path in paths]).removeprefix(
        "## Screenshots\n\n"
    )


def test_section() -> None:
    """A heading, then one link for each image in the given order, a missing one marked (M-7, M-51, M-X20)."""
    given_images = [
        Screenshot("shots/login_page.png"),
        Screenshot("a (1).png", exists=False),
        Screenshot("/abs/x.png"),
    ]
    assert screenshots_section([]) == ""
    assert screenshots_section(given_images) == (
        "## Screenshots\n\n"
        "![login_page.png](shots/login_page.png)\n\n"
        "![a (1).png](<a (1).png>) (missing)\n\n"
        "![x.png](/abs/x.png)"
    )


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("a b.png", "![a b.png](<a b.png>)"),
        ("a)b.png", "![a)b.png](<a)b.png>)"),
        ("a>b<c.png", r"![a>b\<c.png](<a\>b\<c.png>)"),
        ("a]b[c.png", r"![a\]b\[c.png](a]b[c.png)"),
        ("_x_.png", r"![\_x\_.png](_x_.png)"),
        ("ü/größe.png", "![größe.png](ü/größe.png)"),
        ("C:\\shots\\a.png", r"![a.png](<C:\\shots\\a.png>)"),
        ("C:/shots/a.png", "![a.png](C:/shots/a.png)"),
        ("javascript:x.png", "![javascript:x.png](./javascript:x.png)"),
        ("100%25.png", "![100%25.png](100%2525.png)"),
        ("a\nb.png", r"![a\\x0ab.png](a%0Ab.png)"),
        ("a\udcffb.png", r"![a\\udcffb.png](a%FFb.png)"),
        ("", "![](<>)"),
    ],
)
def test_links(path: str, link: str) -> None:
    """Names are shown as they are, paths stay valid destinations (M-X20)."""
    assert links(path) == link


NAMES = st.text(
    st.sampled_from(list("()<>[]!`*_\\&;#:%~ \t\n\r\v\x00\x85\u2028aB1."))
    | st.characters(exclude_categories=["Cs"]),
    min_size=1,
    max_size=20,
)


@given(
    st.lists(
        st.lists(NAMES.map(lambda name: name.replace("/", "")), min_size=1, max_size=3).map(
            "/".join
        ),
        min_size=1,
        max_size=3,
    )
)
def test_every_path_is_one_valid_link(paths: list[str]) -> None:
    """For any paths a renderer finds one image each, nothing else, and the destination leads to the path (M-X20)."""
    text = screenshots_section([Screenshot(path, exists=False) for path in paths])
    found = images(text)
    assert headings(text) == ["Screenshots"]
    assert top_level(text) == ["heading_open", *["paragraph_open"] * len(paths)]
    assert [unquote_to_bytes(source).decode().removeprefix("./") for _, source in found] == [
        path.removeprefix("./") for path in paths
    ]


@given(
    NAMES.filter(
        lambda name: name.isprintable() and not set(name) & set("/\\") and name == name.strip()
    )
)
def test_names_are_shown_as_they_are(name: str) -> None:
    """A renderer shows a printable file name letter by letter (M-7)."""
    assert images(links(name))[0][0] == name
