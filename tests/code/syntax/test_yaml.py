"""YAML: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from aggregate.base.values import View, ViewMode, ViewRequest
from aggregate.prompt import render_all
from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
# Deployment of the shapes.
apiVersion: apps/v1
kind: Deployment
metadata: {name: shapes, labels: {app: shapes}}
"quoted key": 1.5
enabled: yes
spec: &spec
  replicas: 2
  template:
    containers:
      - name: shapes
script: |
  # not a comment
  key: not a key
empty:
items:
  - one
  - two
copy: *spec
---
kind: Service
ports: [80, 443]
"""

OUTLINE = """\
2-19   document (18 lines)
2-2      apiVersion: string
3-3      kind: string
4-4      metadata: object (2 keys)
5-5      "quoted key": number
6-6      enabled: string
7-11     spec: object (2 keys, 5 lines)
12-14    script: string (3 lines)
15-15    empty: null
16-18    items: array (2 items, 3 lines)
19-19    copy: alias
20-22  document (3 lines)
21-21    kind: string
22-22    ports: array (2 items)
"""

SUMMARY = """\
yaml, 22 lines
Deployment of the shapes.
document × 2
  apiVersion: string
  kind: string × 2
  metadata: object (2 keys)
  "quoted key": number
  enabled: string
  spec: object (2 keys, 5 lines)
  script: string (3 lines)
  empty: null
  items: array (2 items, 3 lines)
  copy: alias
  ports: array (2 items)
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.yaml", SAMPLE) == OUTLINE
    assert summary_of("a.yaml", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.yaml", SAMPLE)


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
