"""CSS: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import masked_of, outline_of, sample

SAMPLE = sample("css").text


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
