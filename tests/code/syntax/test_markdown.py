"""Markdown: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
---
title: Guide
---
[![build](https://example.org/badge.svg)](https://example.org)

A guide to *shapes*.

Shapes
======

What a shape is.

Circles
-------

```sh
# not a heading
```

### Area `pi * r^2` ###

> # Quoted, not a section

- item

  # In a list, not a section

#### Units

# Appendix

    # indented code

## Words
#hashtag is text
"""

OUTLINE = """\
8-28   Shapes
13-28    Circles
20-28      ### Area `pi * r^2` ###
28-28        #### Units
30-35  # Appendix
34-35    ## Words
"""

SUMMARY = """\
markdown, 35 lines
A guide to *shapes*.
Shapes
  Circles
    ### Area `pi * r^2` ###
      #### Units
# Appendix
  ## Words
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.md", SAMPLE) == OUTLINE
    assert summary_of("a.md", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.md", SAMPLE)


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
