"""Markdown: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import masked_of, outline_of, sample

SAMPLE = sample("markdown").text


def test_a_heading_stands_for_its_section() -> None:
    """A picked heading shows its section down to the next one of its level (M-35)."""
    assert masked_of("a.md", SAMPLE, {"Circles": "def"}).startswith(
        "Circles\n-------\n\n```sh\n# not a heading\n```\n\n###"
    )
    assert (
        masked_of("a.md", SAMPLE, {"Appendix": "def"})
        == "# Appendix\n\n    # indented code\n\n## Words\n#hashtag is text"
    )
    assert masked_of("a.md", SAMPLE, {"Appendix": "sig"}) == "# Appendix"


def test_levels_may_be_skipped() -> None:
    """Headings nest by their levels, however they jump (M-34)."""
    source = "### Three\n\n# One\n\n#### Four\n\n## Two\n\ntext\n"
    assert (
        outline_of("a.md", source)
        == "1-1  ### Three\n3-9  # One\n5-5    #### Four\n7-9    ## Two\n"
    )


def test_prose_without_headings() -> None:
    """A text without headings is shown by its first lines (M-32, M-34)."""
    source = "Just *prose* of some length,\nover two lines.\n\nAnd a second paragraph that is longer than the first one.\n"
    assert (
        outline_of("a.md", source)
        == "markdown, 4 lines\nJust *prose* of some length, over two lines."
    )
