"""Programs with lines missing, doubled and out of order: nothing breaks beyond the broken place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.code.syntax import (
    test_bash,
    test_javascript,
    test_php,
    test_ruby,
    test_tsx,
    test_typescript,
)
from tests.viewing import check_skeleton, outline_of, summary_of

SAMPLES = {
    "a.sh": test_bash.SAMPLE,
    "a.js": test_javascript.SAMPLE,
    "a.php": test_php.SAMPLE,
    "a.rb": test_ruby.SAMPLE,
    "a.tsx": test_tsx.SAMPLE,
    "a.ts": test_typescript.SAMPLE,
}


@pytest.mark.parametrize("path", SAMPLES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_lines_of_a_program(path: str, data: st.DataObject) -> None:
    """Whatever lines a file is made of, its skeleton maps to them and is no longer than they are (M-33, M-X19)."""
    lines = SAMPLES[path].splitlines(keepends=True)
    start = data.draw(st.integers(0, len(lines) - 1))
    taken = data.draw(st.lists(st.sampled_from(lines[start:]), max_size=12))
    source = "".join(lines[start : start + data.draw(st.integers(1, 40))] + taken)
    check_skeleton(path, source)
    assert outline_of(path, source)
    assert summary_of(path, source).strip()
