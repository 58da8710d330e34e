"""The vocabulary's file."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.base.tokens.plain_count import published_text, ranks

ROOT = Path(__file__).parents[3]
FILE = Path("src/aggregate/base/tokens/o200k_base.ranks")
WHOLE = (ROOT / FILE).read_bytes()
PUBLISHED = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The SHA-256 that tiktoken itself expects of the file that it fetches (tiktoken_ext/openai_public.py)."""
COUNT = """
import os, shutil, sys
sys.modules["toktok"] = None  # the fast library brings a vocabulary of its own
import aggregate
for name in ("", os.devnull, "cut", "other"):
    if name: shutil.copyfile(name, sys.argv[1])
    try: aggregate.count('x')
    except aggregate.AggregateError as error: print(error)
"""


def test_the_bundled_ranks_are_those_that_are_published() -> None:
    """The bundled file has exactly the published tokens and ranks, sorted by bytes."""
    assert hashlib.sha256(published_text()).hexdigest() == PUBLISHED
    assert [*ranks()] == sorted(ranks())
    assert len(WHOLE) == sum(map(len, ranks())) + 4 * (2 * len(ranks()) + 1)


def test_the_file_is_built_again_byte_by_byte(tmp_path: Path) -> None:
    """The script builds the bundled file from the published one, and refuses others."""
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


def test_a_damaged_vocabulary_is_one_sentence(tmp_path: Path) -> None:
    """A missing, truncated or other file is an error with a remedy, and no count."""
    without_page = shutil.ignore_patterns("static", "__pycache__", FILE.name)
    shutil.copytree(ROOT / "src" / "aggregate", tmp_path / "aggregate", ignore=without_page)
    for name, data in (("cut", WHOLE[:-1]), ("other", WHOLE[:-1] + b"\0")):
        (tmp_path / name).write_bytes(data)
    folder = tmp_path / "aggregate" / "base/tokens"
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(folder / FILE.name)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    told = [
        line.partition("the bundled vocabulary o200k_base ")[2] for line in done.stdout.splitlines()
    ]
    assert [line.partition(" ")[0] for line in told] == ["cannot", "is", "is", "is"], done.stderr
    assert told[0].startswith("cannot be read ([Errno 2]")
    assert all(line.startswith("is damaged") for line in told[1:])
    assert all(line.endswith(": reinstall manual-slop") for line in told)
