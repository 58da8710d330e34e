"""The vocabulary's file."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.base.tokens.plain_count import published_text, ranks

ROOT = Path(__file__).parents[3]
FILE = Path("src/aggregate/base/tokens/o200k_base.ranks")
WHOLE = (ROOT / FILE).read_bytes()
PUBLISHED = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The SHA-256 that tiktoken itself expects of the file that it fetches (tiktoken_ext/openai_public.py)."""
COUNT = """
import aggregate
try: aggregate.count('x')
except aggregate.AggregateError as error: print(error)
"""


def test_the_bundled_ranks_are_those_that_are_published() -> None:
    """All tokens of the published file are there with their ranks, sorted by their bytes, and nothing else."""
    assert hashlib.sha256(published_text()).hexdigest() == PUBLISHED
    assert [*ranks()] == sorted(ranks())
    assert len(WHOLE) == sum(map(len, ranks())) + 4 * (2 * len(ranks()) + 1)


def test_the_file_is_built_again_byte_by_byte(tmp_path: Path) -> None:
    """The script makes the bundled file of the published one, and refuses another."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / FILE).parent.mkdir(parents=True)
    script = shutil.copy(ROOT / ".ci" / "vocabulary", tmp_path / ".ci")
    published = tmp_path / "o200k_base.tiktoken"
    for text, code in ((published_text()[:-1], 1), (published_text(), 0)):
        published.write_bytes(text)
        done = subprocess.run([sys.executable, script, str(published)], capture_output=True)
        assert done.returncode == code, done.stderr
        assert (tmp_path / FILE).exists() == (code == 0)
    assert (tmp_path / FILE).read_bytes() == WHOLE


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the program, whose files may be damaged."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copytree(
        ROOT / "src" / "aggregate", folder / "aggregate", ignore=shutil.ignore_patterns("static")
    )
    return folder


@pytest.mark.parametrize(
    ("kept", "appended", "reason"),
    [
        (None, b"", "cannot be read ([Errno 2]"),
        (0, b"", "is damaged"),
        (-1, b"", "is damaged"),
        (-1, b"\0", "is damaged"),
    ],
)
def test_a_damaged_vocabulary_is_one_sentence(
    copied: Path, kept: int | None, appended: bytes, reason: str
) -> None:
    """A file that is missing, cut or another one is told with the remedy, and nothing is counted by it."""
    file = copied / "aggregate" / "base/tokens" / FILE.name
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(WHOLE[:kept] + appended)
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        env={**os.environ, "PYTHONPATH": str(copied)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(f"the bundled vocabulary o200k_base {reason}"), done.stderr
    assert done.stdout.endswith(": reinstall manual-slop\n")
