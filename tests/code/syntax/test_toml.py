"""TOML: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import masked_of, sample, summary_of

SAMPLE = sample("toml").text


def test_a_table_is_picked_by_its_name() -> None:
    """A table is a symbol by its dotted name; a list's tables are all meant (M-35)."""
    assert masked_of("a.toml", SAMPLE, {"tool.ruff": "def"}) == "[tool.ruff]\nline-length = 120"
    assert (
        masked_of("a.toml", SAMPLE, {"package": "def"})
        == '[[package]]\nname = "a"\n\n[[package]]\nname = "b"'
    )


def test_a_lock_file_is_two_rows() -> None:
    """The tables of a list are one row of the digest (M-32)."""
    source = '[[package]]\nname = "a"\n\n[package.source]\nurl = "b"\n\n' * 50
    assert (
        summary_of("poetry.lock", source)
        == "toml, 300 lines\npackage: table × 50\npackage.source: table × 50"
    )
