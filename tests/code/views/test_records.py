"""Tables and JSON Lines: columns or keys with their types, the number of rows, and the first ones."""

import json

import pytest
from hypothesis import given, strategies as st
from tests.viewing import outline_of, skeleton_of, summary_of, viewed

from aggregate import View, ViewMode

PAD = "x" * 30


def view(path: str, text: str) -> View:
    """Return the summary, which must not fail."""
    return viewed(path, text, ViewMode.SUMMARY)


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (
            "id,when,day,ok,ratio,code,note\n"
            + f"1,2024-01-02T03:04:05Z,2024-01-02,true,.5,007,{PAD}\n" * 9
            + "2,,,False,1e3,010,\n",
            "csv, 11 lines\n7 columns, 10 rows\nid: int\nwhen: datetime, 1 empty\nday: date, 1 empty\nok: bool\n"
            "ratio: float\ncode: text\nnote: text, 1 empty\n"
            + "\n".join([f"1,2024-01-02T03:04:05Z,2024-01-02,true,.5,007,{PAD}"] * 3),
        ),
        (
            "a;b\n" + f"1,5;{PAD}\n" * 9,
            "csv, 10 lines\n2 columns, 9 rows, parted by semicolons\na: text\nb: text\n"
            + "\n".join([f"1,5;{PAD}"] * 3),
        ),
        (
            "1,2,3\n4,5,6\n" + f"7,{PAD}\n\n" * 9,
            "csv, 20 lines\n2 columns, 11 rows".replace("2 c", "3 c")
            + f", no header, 9 rows with fewer or more cells\ncolumn 1: int\ncolumn 2: text\n"
            f"column 3: int, 9 empty\n1,2,3\n4,5,6\n7,{PAD}",
        ),
        (
            f"a,b\n{'y' * 300},1\n" + f"{PAD},2\n" * 3000,
            "csv, 3002 lines\n2 columns, 3001 rows, types from the first 1000\na: text\nb: int\n"
            f"{'y' * 39}…,1\n{PAD},2\n{PAD},2",
        ),
    ],
    ids=["types", "semicolons", "no header", "many rows"],
)
def test_a_table_shows_its_columns(text: str, digest: str) -> None:
    """Each column has its type and its empty cells, long cells are cut with a mark (M-32, M-34)."""
    assert summary_of("a.csv", text) == digest
    assert outline_of("a.csv", text) == skeleton_of("a.csv", text) == digest


def test_json_lines_show_their_keys() -> None:
    """Each key has its types, and in how many rows it is; lines that are no JSON are told (M-32, M-34)."""
    rows = [
        {"id": n, "name": None if n % 2 else PAD, **({"tags": [n]} if n < 3 else {})}
        for n in range(9)
    ]
    text = "\n".join([*map(json.dumps, rows), "", "{broken", json.dumps([PAD])]) + "\n\n"
    digest = (
        "json lines, 13 lines\n11 rows, 1 line that is no JSON\n"
        "id: int, in 9 of 10\nname: null or text, in 9 of 10\ntags: list, in 3 of 10\n1 row of list\n"
        + "\n".join(json.dumps(row) for row in rows[:3])
    )
    assert summary_of("a.jsonl", text) == digest
    assert outline_of("a.ndjson", text) == skeleton_of("a.jsonl", text) == digest


def test_a_long_json_row_is_cut() -> None:
    """Values and rows that are too long end with a mark (M-32)."""
    text = "".join(
        json.dumps({"a": "x" * 500, "n": n, "b": {"c": [1] * 400}}) + "\n" for n in range(2000)
    )
    rows = view("a.jsonl", text).text.split("\n")
    assert rows[1] == "2000 rows, keys from the first 576"
    assert (
        rows[-1] == '{"a": "' + "x" * 58 + '…, "n": 2, "b": ' + ('{"c": [' + "1, " * 30)[:59] + "…}"
    )


def test_a_short_table_is_shown_itself() -> None:
    """A table that is no longer than its digest is shown whole, line by line (M-32)."""
    shown = view("a.csv", "a,b\n1,2\n3,4\n")
    assert shown.text == "a,b\n1,2\n3,4\n"
    assert [shown.source_line(n) for n in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize("path", ["a.csv", "a.tsv", "a.jsonl"])
@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + '"' + "x" * 100_000,
        "a\rb\rc\r" * 50,
        "," * 100_000,
        "\n" * 100_000 + "a",
        "[" * 100_000 + "\n1\n",
        "1" * 10_000 + "\n" + "2\n" * 99,
        "\0,\0\n" * 99,
        "{}\n" * 99,
        '{"\\ud800": "\\ud800\\n"}\n' * 99,
    ],
)
def test_damaged_and_hostile_records_are_shown(path: str, text: str) -> None:
    """Whatever stands in a file of records, its digest is shorter than it (M-5, M-32)."""
    shown = view(path, text)
    assert shown.text.strip()
    assert len(shown.text) <= len(text)
    shown.text.encode()


@given(
    cells=st.lists(
        st.lists(
            st.text(st.sampled_from('ab,;"\n 1'), min_size=1, max_size=6), min_size=2, max_size=3
        ),
        min_size=1,
        max_size=8,
    )
)
def test_sampled_rows_lead_to_their_lines(cells: list[list[str]]) -> None:
    """A row of the digest maps to the lines of the file in which it stands (M-32)."""
    written = ["name,x," + PAD]
    written += [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    shown = view("a.csv", "\n".join([*written, *[f"{PAD},1"] * 50]) + "\n")
    line = 2
    spans = {span.source_start: span.source_end for span in shown.spans}
    for row in written[1:4]:
        assert spans[line] == line + row.count("\n")
        line += row.count("\n") + 1
