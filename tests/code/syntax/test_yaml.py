"""YAML: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from aggregate.base.values import View, ViewMode, ViewRequest
from aggregate.prompt import render_all
from tests.viewing import masked_of, outline_of, sample

SAMPLE = sample("yaml").text


def test_lists_and_flow_style() -> None:
    """A list shows its length and the shape of its first item; flow style reads as block style (M-34)."""
    source = "- name: one\n  run: |\n    echo\n- name: two\n"
    assert (
        outline_of("a.yml", source)
        == """\
1-4  array (2 items, 4 lines)
1-3    object (2 keys, 3 lines)
1-1      name: string
2-3      run: string (2 lines)
"""
    )
    assert outline_of("a.yml", "{a: 1, b: [x]}\n") == "1-1  a: number\n1-1  b: array (1 item)\n"


def test_keys_are_picked_in_every_document() -> None:
    """A key stands for all keys of that name (M-35)."""
    assert masked_of("a.yaml", SAMPLE, {"kind": "def"}) == "kind: Deployment\n\nkind: Service"


@pytest.mark.parametrize(
    "source",
    [
        "- " * 1000 + "a\n",
        "".join(" " * level + "a:\n" for level in range(1000)),
        "? " * 1000 + "a\n",
    ],
)
def test_a_hostile_file_costs_only_itself(source: str) -> None:
    """A text that the grammar cannot stand is shown by a sentence and its first lines; the process goes on (M-X19)."""
    (view,) = render_all([ViewRequest("a.yaml", source, ViewMode.OUTLINE)])
    assert isinstance(view, View)
    assert view.problems[0].startswith("the parser crashes over this text, ")
    assert view.text.startswith(f"NOTE: {view.problems[0]}\n{source.split()[0]}")
