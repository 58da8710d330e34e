"""Programs with lines missing, doubled and out of order: nothing breaks beyond the broken place."""

import pytest
from hypothesis import given, strategies as st

from tests.viewing import Sample, check_skeleton, outline_of, sample, summary_of

SAMPLES = [
    *(sample(name) for name in ("bash", "javascript", "typescript")),
    *(pytest.param(sample(name), marks=pytest.mark.slow) for name in ("php", "ruby", "tsx")),
]


@pytest.mark.parametrize("shown", SAMPLES, ids=lambda shown: shown.path)
@given(data=st.data())
def test_any_lines_of_a_program(shown: Sample, data: st.DataObject) -> None:
    """Whatever lines a file is made of, its skeleton maps to them and is no longer than they are (M-33, M-X19)."""
    lines = shown.text.splitlines(keepends=True)
    start = data.draw(st.integers(0, len(lines) - 1))
    taken = data.draw(st.lists(st.sampled_from(lines[start:]), max_size=12))
    source = "".join(lines[start : start + data.draw(st.integers(1, 40))] + taken)
    check_skeleton(shown.path, source)
    assert outline_of(shown.path, source)
    assert summary_of(shown.path, source).strip()
