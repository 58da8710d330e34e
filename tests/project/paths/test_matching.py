"""Many globs on the same paths."""

import time

from hypothesis import given, strategies as st

from aggregate.project.paths import compile_glob
from aggregate.project.paths.globs import MatchedPaths

PATHS = st.lists(st.text("ab/.\n[{", min_size=1, max_size=8), max_size=6, unique=True)
GLOBS = st.lists(st.text("ab/.*?[]{},\n", min_size=1, max_size=8), min_size=9, max_size=14)


@given(PATHS, GLOBS)
def test_each_glob_matches_what_it_matches_alone(paths: list[str], globs: list[str]) -> None:
    """Also after the first few, which are tried on all paths."""
    together = MatchedPaths(paths)
    for glob in globs:
        assert together.matching(glob) == [path for path in paths if compile_glob(glob).match(path)]


def test_thousands_of_globs_on_thousands_of_paths() -> None:
    """Each takes what it matches, and not all paths: nine million trials would take many times as long."""
    together = MatchedPaths([f"src/d{number % 50}/file{number:05}.py" for number in range(3000)])
    started = time.process_time()
    for number in range(3000):
        assert together.matching(f"**/*{number:05}.py") == [
            f"src/d{number % 50}/file{number:05}.py"
        ]
    assert time.process_time() - started < 4
