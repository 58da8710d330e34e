"""HTML: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import masked_of, outline_of, sample

SAMPLE = sample("html").text


def test_a_page_on_one_line() -> None:
    """A page without line ends is listed as any other, names in any case (M-34)."""
    source = '<BODY><MAIN ID="a"><H1>One</H1><p>x<br></p><H2>Two</H2></MAIN></BODY>'
    assert (
        outline_of("a.html", source)
        == '1-1  <MAIN ID="a">\n1-1    <H1>One</H1>\n1-1      <H2>Two</H2>\n'
    )


def test_a_section_is_picked_by_its_id() -> None:
    """An element with an id is a symbol (M-35)."""
    assert (
        masked_of("a.html", SAMPLE, {"menu": "def"}) == '<nav id="menu"><a href="/">Home</a></nav>'
    )
