"""TOML: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = '''\
# Settings of the shapes.
title = "Shapes # not a comment"
limit = 10
ratio = 0.5
enabled = true
since = 1979-05-27T07:32:00Z
tags = ["a", "b", # why
  "c"]
point = { x = 1, y = 2 }
owner.name = "Ada"

[tool.ruff]
line-length = 120

[tool.ruff."per-file"]
x = """
[not.a.table]
"""

[[package]]
name = "a"

[[package]]
name = "b"

[empty]
'''

OUTLINE = """\
2-2    title: string
3-3    limit: number
4-4    ratio: number
5-5    enabled: boolean
6-6    since: date
7-8    tags: array (3 items, 2 lines)
9-9    point: table (2 keys)
10-10  owner.name: string
12-14  tool.ruff: table (3 lines)
15-19  tool.ruff."per-file": table (5 lines)
20-22  package: table (3 lines)
23-25  package: table (3 lines)
26-26  empty: table
"""

SUMMARY = """\
toml, 26 lines
Settings of the shapes.
title: string
limit: number
ratio: number
enabled: boolean
since: date
tags: array (3 items, 2 lines)
point: table (2 keys)
owner.name: string
tool.ruff: table (3 lines)
tool.ruff."per-file": table (5 lines)
package: table × 2
empty: table
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.toml", SAMPLE) == OUTLINE
    assert summary_of("a.toml", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.toml", SAMPLE)


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
