"""Writing: the user's files through their links, ours through none."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate.base.disk import (
    confined,
    create_private,
    exclusive_access,
    private_folder,
    replace_own,
    replace_text,
    temporary_name,
    without_links,
    write_to_free,
)
from aggregate.base.errors import OutputError

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of Unix")


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Let new files be readable and writable by everybody by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.lstat().st_mode)


@UNIX
@pytest.mark.usefixtures("open_umask")
def test_what_is_ours_is_for_the_user_alone(tmp_path: Path) -> None:
    """Files and the folders made for them are private, whatever the user's default; a folder that is there stays."""
    tmp_path.chmod(0o755)
    replace_own(tmp_path / "a" / "b" / "c", "text")
    os.close(create_private(tmp_path / "d"))
    modes = [mode(tmp_path / one) for one in (".", "a", "a/b", "a/b/c", "d")]
    assert modes == [0o755, 0o700, 0o700, 0o600, 0o600]


@UNIX
def test_the_users_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """A link is written through and the file behind it keeps its mode."""
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    replace_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "real").read_text(encoding="utf-8"), mode(tmp_path / "real")) == (
        "new",
        0o640,
    )


def test_a_new_file_takes_the_first_free_name(tmp_path: Path) -> None:
    """Names that something bears, also a link to nowhere, stay; nothing else is left in the folder."""
    names = [tmp_path / name for name in "abc"]
    names[0].write_text("old", encoding="utf-8")
    names[1].symlink_to("nowhere")
    assert write_to_free(names, [b"n", b"ew"], temporary_name(tmp_path, "x")) == names[2]
    assert (names[0].read_text(encoding="utf-8"), names[2].read_text(encoding="utf-8")) == (
        "old",
        "new",
    )
    assert sorted(tmp_path.iterdir()) == names


def test_a_new_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """An error in the midst of its pieces goes to the caller, and no name is taken."""
    pieces = (piece.encode() for piece in ["whole", "\ud800"])
    with pytest.raises(UnicodeEncodeError):
        write_to_free([tmp_path / "a"], pieces, temporary_name(tmp_path, "x"))
    assert not list(tmp_path.iterdir())


def test_a_name_as_long_as_file_systems_allow(tmp_path: Path) -> None:
    """Its temporary name is shorter, also where each character has four bytes."""
    path = tmp_path / ("\U0001f600" * 63)
    replace_own(path, "text")
    assert [path] == list(tmp_path.iterdir())


@UNIX
@pytest.mark.parametrize("target", ["victim", "gone"])
def test_a_link_in_the_place_of_ours_is_replaced(tmp_path: Path, target: str) -> None:
    """What a link leads to is neither changed nor made."""
    (tmp_path / "victim").write_text("precious", encoding="utf-8")
    (tmp_path / "ours").symlink_to(target)
    replace_own(tmp_path / "ours", b"new")
    assert (tmp_path / "victim").read_text(encoding="utf-8") == "precious"
    assert not (tmp_path / "gone").exists()
    assert (tmp_path / "ours").read_bytes() == b"new"
    assert not (tmp_path / "ours").is_symlink()
    (tmp_path / "second").symlink_to(target)
    with pytest.raises(FileExistsError):
        create_private(tmp_path / "second")


@UNIX
def test_confined_knows_where_links_lead(tmp_path: Path) -> None:
    """A place counts by where it really is, also if it does not exist yet."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to("real")
    for inside in (root, root / "a/b", root / "in/x", root / "a/../b"):
        assert confined(inside, root) == inside
    for outside in (root / "out", root / "out/x", root / "..", root / "../project2", Path("/etc")):
        with pytest.raises(OutputError, match="leads out of the project"):
            confined(outside, root)
        assert confined(outside, None) == outside


@UNIX
def test_unlinked_takes_the_project_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name elsewhere is the user's choice; a link in a checkout, or in the current folder, must not lead out."""
    (tmp_path / "checkout/.git").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    for folder in ("checkout", "plain"):
        (tmp_path / folder / "state").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "plain")
    assert without_links(tmp_path / "elsewhere") == tmp_path / "elsewhere"
    for place in (Path("state"), tmp_path / "checkout/state/data_cache"):
        with pytest.raises(OutputError, match="through a link"):
            without_links(place)


@UNIX
def test_a_lock_never_waits_for_a_fifo(tmp_path: Path) -> None:
    """A link to a FIFO in the place of a folder is an error, not a wait."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").symlink_to("fifo")
    with (
        pytest.raises(OSError, match="Not a directory"),
        exclusive_access(tmp_path / "folder" / "a"),
    ):
        pass


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    """A folder that cannot be made is one sentence."""
    (tmp_path / "a").touch()
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        private_folder(tmp_path / "a")
    with pytest.raises(OutputError, match="cannot write"):
        replace_own(tmp_path / "a" / "b", "")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives open folders a path")


def _swap(folder: Path, other: Path) -> None:
    """Put a link to another folder in the place of one."""
    folder.rename(folder.with_name("before"))
    folder.symlink_to(other)


@LINUX
def test_a_folder_that_is_swapped_before_a_new_file_leads_nowhere(tmp_path: Path) -> None:
    """What was checked is what is written to, whoever puts a link in its place between the two."""
    folder, other = tmp_path / "project/shots", tmp_path / "other"
    folder.mkdir(parents=True)
    other.mkdir()

    def pieces() -> Iterator[bytes]:
        yield b"text"
        _swap(folder, other)

    temporary = temporary_name(folder, "a")
    write_to_free(iter([folder / "a"]), pieces(), temporary, within=tmp_path / "project")
    assert not [*other.iterdir()]
    assert [file.name for file in (tmp_path / "project/before").iterdir()] == ["a"]
    with pytest.raises(OutputError, match="leads out of the project"):
        write_to_free(iter([folder / "b"]), [b""], temporary, within=tmp_path / "project")
    assert not [*other.iterdir()]


class _Swapping(str):
    """A text that swaps a folder in the moment in which it is written."""

    __slots__ = ("places",)
    places: tuple[Path, Path]

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Swap, and encode."""
        _swap(*self.places)
        return super().encode(encoding, errors)


@LINUX
def test_a_folder_that_is_swapped_before_a_replacement_leads_nowhere(tmp_path: Path) -> None:
    """The same of the user's own file, whose namesake elsewhere stays as it is."""
    folder, other = tmp_path / "project/settings", tmp_path / "other"
    for each in (folder, other):
        each.mkdir(parents=True)
        (each / "a").write_text("before")
    text = _Swapping("after")
    text.places = (folder, other)
    replace_text(folder / "a", text, within=tmp_path / "project")
    assert (other / "a").read_text() == "before"
    assert (tmp_path / "project/before/a").read_text() == "after"
    with pytest.raises(OutputError, match="leads out of the project"):
        replace_text(folder / "a", "again", within=tmp_path / "project")
    assert (other / "a").read_text() == "before"


@UNIX
def test_a_lock_that_others_keep_is_given_up(tmp_path: Path) -> None:
    """Whoever may read a folder may lock it for ever: who waits with a limit is told so."""
    with (
        exclusive_access(tmp_path / "a"),
        pytest.raises(TimeoutError, match="kept its folder locked"),
        exclusive_access(tmp_path / "a", seconds=0.1),
    ):
        pass
    with exclusive_access(tmp_path / "a", seconds=0.1):
        pass
