"""Looking candidates up by their paths."""

import pytest

from aggregate.ranking.paths import PathTable
from tests.fakes.corpus import FakeCorpus

PATHS = ("src/app/core.py", "lib/app/core.py", "core.py", "web/index.js")


@pytest.mark.parametrize(
    ("written", "files", "share"),
    [
        ("src/app/core.py", ["src/app/core.py"], 1.0),
        ("app/core.py", ["src/app/core.py", "lib/app/core.py"], 1.0),
        ("/home/me/src/app/core.py", ["src/app/core.py"], 1.0),
        ("./src/app/core.py", ["src/app/core.py"], 1.0),
        ("/usr/lib/app/core.py", ["lib/app/core.py"], 1.0),
        ("/opt/app/core.py", ["src/app/core.py", "lib/app/core.py"], 0.5),
        ("/opt/other/core.py", ["core.py"], 1.0),
        ("/opt/other/index.js", [], 0.0),
        ("core.py", ["src/app/core.py", "lib/app/core.py", "core.py"], 1.0),
        ("", [], 0.0),
        ("///", [], 0.0),
    ],
)
def test_written_paths_mean_the_longest_common_end(
    written: str, files: list[str], share: float
) -> None:
    """A path that a message tells means the files that share most of its last parts, by whole parts (rule T-2)."""
    corpus = FakeCorpus(dict.fromkeys(PATHS, "x\n"))
    match = PathTable(corpus.files).meant_by(written)
    assert [corpus.files[number].path for number in match.files] == files
    assert match.share == share
