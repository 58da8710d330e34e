"""CSS: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
/* Colours and layout. */
@charset "utf-8";
@import url("reset.css");
@import "print.css" print;

:root {
  --main: #fff;
}

a:hover,
nav > a[href^="http"]::after {
  content: "{ not a rule }";
  &:focus { color: red; }
}

@media (min-width: 40em) and (orientation: landscape) {
  .page { width: 50%; }
  .page .side { display: none; }
}

@supports (display: grid) {
  main { display: grid; }
}

@font-face {
  font-family: "Main";
}

@keyframes spin {
  from { rotate: 0deg; }
  to { rotate: 360deg; }
}

@layer base {
  html { margin: 0; }
}
"""

OUTLINE = """\
6-8    :root
10-14  a:hover, nav > a[href^="http"]::after
16-19  @media (min-width: 40em) and (orientation: landscape)
17-17    .page
18-18    .page .side
21-23  @supports (display: grid)
22-22    main
25-27  @font-face
29-32  @keyframes spin
34-36  @layer base
35-35    html
"""

SUMMARY = """\
css, 36 lines
Colours and layout.
imports: url("reset.css"), "print.css"
:root
a:hover, nav > a[href^="http"]::after
@media (min-width: 40em) and (orientation: landscape)
  .page
  .page .side
@supports (display: grid)
  main
@font-face
@keyframes spin
@layer base
  html
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.css", SAMPLE) == OUTLINE
    assert summary_of("a.css", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.css", SAMPLE)


def test_a_style_sheet_on_one_line() -> None:
    """A minified style sheet is listed as any other (M-34)."""
    source = ".a{b:c}.d>e,.f{g:h}@media print{.a{b:d}}"
    assert (
        outline_of("a.min.css", source) == "1-1  .a\n1-1  .d>e,.f\n1-1  @media print\n1-1    .a\n"
    )


def test_a_rule_is_picked_by_its_selector() -> None:
    """A rule is a symbol by its selectors as written (M-35)."""
    assert masked_of("a.css", SAMPLE, {":root": "def"}) == ":root {\n  --main: #fff;\n}"


def test_a_long_style_sheet_is_capped_and_says_so() -> None:
    """An outline has at most 500 rows, the outer ones first, and tells how many more there are (M-34)."""
    rows = outline_of("a.css", "@media print { .in { b: c } }\n" * 600).splitlines()
    assert rows[0] == "1-1      @media print"
    assert rows[499] == "500-500  @media print"
    assert rows[500:] == ["... and 700 more"]
