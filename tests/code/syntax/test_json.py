"""JSON: skeleton, outline, digest and picked symbols, text in and text out."""

import json

import pytest

from tests.viewing import masked_of, outline_of, sample, skeleton_of, summary_of

SAMPLE = sample("json").text


@pytest.mark.parametrize(
    ("source", "outline"),
    [
        (
            '[{"id": 1, "tags": []}, {"id": 2}]',
            "1-1  array (2 items)\n1-1    object (2 keys)\n1-1      id: number\n1-1      tags: array (0 items)\n",
        ),
        ("[1, 2, 3]", "1-1  array (3 items)\n"),
        ('{"id": 1}\n{"id": 2}\n', "1-1  id: number\n"),
        ('{"a":{"b":1},"c":[1,2]}', "1-1  a: object (1 key)\n1-1  c: array (2 items)\n"),
    ],
)
def test_lists_lines_and_one_line(source: str, outline: str) -> None:
    """A list shows its length and the shape of its first item; JSON lines that of the first line (M-34)."""
    assert outline_of("a.json", source) == outline


def test_the_skeleton_is_the_outline_or_the_file() -> None:
    """Data are shown by their outline where it is shorter than the file, else whole (M-33)."""
    large = json.dumps({"a": list(range(100)), "b": {"c": "d" * 100}}, indent=1) + "\n"
    assert (
        skeleton_of("a.json", large)
        == "2-103    a: array (100 items, 102 lines)\n104-106  b: object (1 key, 3 lines)\n"
    )
    assert skeleton_of("a.json", '{"a": 1}') == '{"a": 1}'


def test_a_key_is_picked_by_its_name() -> None:
    """A key is a symbol as written, dots and all (M-35)."""
    assert (
        masked_of("a.json", SAMPLE, {"files": "def", "a.b": "def"})
        == '"files": ["src", "docs"]\n\n"a.b": { "c": { "d": [] } }'
    )


@pytest.mark.parametrize("count", [70, 5_000])
def test_many_keys_give_a_short_digest(count: int) -> None:
    """A digest of data has at most 60 rows and tells how many more there are (M-32)."""
    lines = summary_of(
        "a.json", json.dumps({f"key{number}": number for number in range(count)})
    ).splitlines()
    assert lines[:2] == ["json, 1 line", "key0: number"]
    assert lines[-2:] == ["key59: number", f"... and {count - 60} more"]
    assert len(lines) == 62


def test_a_long_list_gives_a_short_digest() -> None:
    """A list of many numbers is one row (M-32)."""
    assert (
        summary_of("a.json", json.dumps(list(range(100_000))))
        == "json, 1 line\narray (100000 items)"
    )
