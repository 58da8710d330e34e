"""A repository that the user names: fetched into the cache, read without trust, its prompt written here."""

import sys
from pathlib import Path

import pytest

from aggregate.project.git import Remote
from tests.cli.command_line import Ended, mistake, start
from tests.hostile.planted import plant
from tests.project.history import Repository
from tests.project.repository import git

FILES = {
    "src/boat.py": "def row(strokes):\n    return strokes * 2\n",
    "README.md": "# Boat\n",
    "manual_slop.toml": "[files]\npaths = ['README.md']\n",
    "secret.link": "",
}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository of one commit, with an attribute that names a filter and a link that leads out of it."""
    source = Repository(tmp_path / "source")
    (tmp_path / "outside.txt").write_text("mine alone\n")
    source.write({**FILES, ".gitattributes": "* filter=planted\n"})
    (source.root / "secret.link").unlink()
    (source.root / "secret.link").symlink_to(tmp_path / "outside.txt")
    source.commit("Begin", {})
    git(tmp_path, "clone", "-q", "--bare", str(source.root), str(tmp_path / "boat.git"))
    return tmp_path / "boat.git"


def fetched(folder: Path, address: str, *arguments: str, **environment: str) -> Ended:
    folder.mkdir(exist_ok=True)
    cache = str(folder.parent / "cache")
    return start(folder, "--remote", address, *arguments, AGGREGATE_CACHE_DIR=cache, **environment)


def test_a_repository_is_fetched_by_its_name(bare: Path, tmp_path: Path) -> None:
    """All its files are candidates, whatever it configures; the prompt lies here, the clone in the cache (rule T-6)."""
    here = tmp_path / "here"
    ended = fetched(here, bare.as_uri(), "why are strokes counted twice", "--budget", "1k")
    assert (ended.code, ended.out) == (0, "md_gen/boat_001.md\n")
    assert ended.err.startswith(f"fetching {bare.as_uri()}\n")
    text = (here / "md_gen/boat_001.md").read_text(encoding="utf-8")
    assert text.startswith("Parts of the project boat. ")
    assert "return strokes * 2" in text
    assert "mine alone" not in text
    assert start(here, "explain", "md_gen/boat_001.md").code == 0
    (clone,) = (tmp_path / "cache").glob("remotes/boat-*")
    assert not (clone / "md_gen").exists()
    assert start(here, "cache", "clear", AGGREGATE_CACHE_DIR=str(tmp_path / "cache")).code == 0
    assert not clone.exists()


def test_a_repository_is_written_in_parts(bare: Path, tmp_path: Path) -> None:
    """The prompts of ``--split`` lie here too, as many as are needed."""
    here = tmp_path / "here"
    ended = fetched(here, bare.as_uri(), "--split", "400", "-q")
    assert (ended.code, ended.err) == (0, "")
    assert "return strokes * 2" in "".join(
        (here / path).read_text(encoding="utf-8") for path in ended.out.splitlines()
    )


def test_what_is_fetched_is_the_newest(bare: Path, tmp_path: Path) -> None:
    """The same words once more fetch again, and files that are gone there are gone here."""
    here = tmp_path / "here"
    assert "row(strokes)" in fetched(here, bare.as_uri(), "--stdout", "-q").out
    source = Repository(tmp_path / "source")
    (source.root / "src/boat.py").unlink()
    source.commit("Sail", {"src/sail.py": "def hoist():\n    return 1\n"})
    git(source.root, "push", "-q", str(bare), "HEAD")
    text = fetched(here, bare.as_uri(), "--stdout", "-q").out
    assert "hoist()" in text
    assert "row(strokes)" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of a shell")
def test_nothing_of_it_runs(bare: Path, tmp_path: Path) -> None:
    """Neither a filter that the user has and its attributes name, nor hooks of a template of the user's."""
    planted = plant(tmp_path / "programs")
    hook = plant(tmp_path / "template/hooks", "post-checkout")
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[filter "planted"]\n smudge = {planted.path}\n required = true\n'
        f"[init]\n templateDir = {tmp_path / 'template'}\n"
    )
    ended = fetched(
        tmp_path / "here", bare.as_uri(), "--stdout", "-q", GIT_CONFIG_GLOBAL=str(settings)
    )
    assert ended.code == 0
    assert "row(strokes)" in ended.out
    assert not planted.was_run
    assert not hook.was_run


@pytest.mark.parametrize(
    ("named", "remote"),
    [
        ("ada/boat", Remote("https://github.com/ada/boat", "boat")),
        ("ada/boat.git@v1.2/x", Remote("https://github.com/ada/boat", "boat", "v1.2/x")),
        ("https://example.org/a/boat.git", Remote("https://example.org/a/boat.git", "boat")),
        ("ssh://git@example.org/boat", Remote("ssh://git@example.org/boat", "boat")),
    ],
)
def test_a_name_stands_for_an_address(named: str, remote: Remote) -> None:
    """An owner and a name are those on GitHub, with a branch, tag or commit behind them."""
    assert Remote.parse(named) == remote


@pytest.mark.parametrize(
    "named",
    [
        "boat",
        "ada/boat@-x",
        "ada/boat@a:b",
        "ada/boat@../x",
        "-x/boat",
        "ext::sh -c x",
        "http://example.org/boat",
        "git://example.org/boat",
        "https://example.org/bo at",
        "https://ada:pass@example.org/boat",
        "file://",
    ],
)
def test_other_addresses_are_a_mistake(named: str, tmp_path: Path) -> None:
    """What would run a program, can be changed on the way, names a password or is an option of git's is not fetched."""
    assert "--remote" in mistake(fetched(tmp_path / "here", named, "why not"))


def test_what_cannot_be_fetched_is_one_sentence(tmp_path: Path) -> None:
    """It says what git says."""
    ended = fetched(tmp_path / "here", "https://localhost:1/boat", "-q")
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert ended.err.startswith("aggregate: https://localhost:1/boat cannot be fetched: ")


@pytest.mark.parametrize("option", [["-c", "x.toml"], ["--allow-outside"]])
def test_what_does_not_go_with_it_is_a_mistake(option: list[str], tmp_path: Path) -> None:
    """It has no configuration, and nothing outside of it is read."""
    ended = fetched(tmp_path / "here", "ada/boat", *option)
    assert ended.code == 2
    assert "--remote excludes --config and --allow-outside" in ended.err
