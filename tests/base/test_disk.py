"""A disk prepared by a stranger: reading, writing, programs, user folders."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import platformdirs
import pytest

from aggregate import AggregateError, load_config
from aggregate.base.disk import (
    UnreadableError,
    confined,
    find_program,
    read_bytes,
    read_regular,
    read_text,
    search_path,
    without_links,
)
from aggregate.base.disk.writing import (
    CACHE_VARIABLE,
    STATE_VARIABLE,
    cache_folder,
    create_private,
    exclusive_access,
    private_folder,
    replace_own,
    replace_text,
    state_folder,
    user_state_folder,
    write_to_free,
)
from aggregate.project import Config, as_data
from aggregate.project.configuration import global_config_path, user_config
from aggregate.sending import ModelSelection, prepare_turn, send_turn
from tests.hostile.planted import plant
from tests.projects import project


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """A file of exactly the limit is read; one byte more is refused with both figures."""
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    assert read_bytes(path, limit=1000) == b"x" * 1000
    with pytest.raises(UnreadableError) as error:
        read_bytes(path, limit=999)
    assert error.value.strerror == "too large: 1,000 bytes, the limit is 999"


def test_text_has_its_own_line_ends_and_no_mark(tmp_path: Path) -> None:
    """Text is UTF-8 without a byte order mark; line ends stay."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\n\xc3\xa9\n")
    assert read_text(tmp_path / "a") == "a\r\né\n"


def test_what_the_file_is_comes_with_its_bytes(tmp_path: Path) -> None:
    """The time belongs to the bytes read, also through a link."""
    (tmp_path / "a").write_bytes(b"")
    os.utime(tmp_path / "a", (1_000_000_000, 1_000_000_000))
    (tmp_path / "b").symlink_to("a")
    data, info = read_regular(tmp_path / "b", limit=10)
    assert (data, info.st_mtime) == (b"", 1_000_000_000)


@pytest.mark.skipif(sys.platform == "win32", reason="these are files of Unix")
@pytest.mark.parametrize(
    "target", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty", "fifo", "socket"]
)
def test_what_is_no_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Devices, FIFOs and sockets are refused at once, also behind a link."""
    import socket

    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        server.bind("socket")
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(OSError, match="is not a regular file"):
            read_bytes(tmp_path / "link")


def test_a_folder_is_not_read(tmp_path: Path) -> None:
    """A folder is not read as a file."""
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


def test_a_hole_of_terabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    """A sparse file larger than any disk is refused without reading."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(UnreadableError, match="too large: 4,398,046,511,104 bytes"):
        read_bytes(tmp_path / "sparse")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_files_without_a_size_are_read_whole() -> None:
    """System files with size 0 are read, up to the limit."""
    assert Path("/proc/self/status").stat().st_size == 0
    assert read_bytes("/proc/self/status").count(b"\n") > 10
    with pytest.raises(UnreadableError, match="too large"):
        read_bytes("/proc/self/status", limit=20)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_what_another_user_has_put_there_is_not_our_own(tmp_path: Path) -> None:
    """A state is read only if written by this user."""
    file = tmp_path / "state.json"
    file.write_text("{}")
    assert read_text(file, is_own=True) == "{}"
    os.chown(file, 12345, -1)
    with pytest.raises(UnreadableError, match="another user"):
        read_text(file, is_own=True)


UNIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of Unix")


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Let new files be readable and writable by everybody by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@UNIX
@pytest.mark.usefixtures("open_umask")
def test_what_is_ours_is_for_the_user_alone(tmp_path: Path) -> None:
    """New files and folders are private under any umask; existing folders stay."""
    tmp_path.chmod(0o755)
    replace_own(tmp_path / "a" / "b" / "c", "text")
    os.close(create_private(tmp_path / "d"))
    modes = [mode(tmp_path / one) for one in (".", "a", "a/b", "a/b/c", "d")]
    assert modes == [0o755, 0o700, 0o700, 0o600, 0o600]


@UNIX
def test_the_users_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """A link is written through, and its target keeps its mode."""
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
    """Existing names stay, also broken links; no other file is left."""
    names = [tmp_path / name for name in "abc"]
    names[0].write_text("old", encoding="utf-8")
    names[1].symlink_to("nowhere")
    assert write_to_free(tmp_path, "x", names, [b"n", b"ew"]) == names[2]
    assert (names[0].read_text(encoding="utf-8"), names[2].read_text(encoding="utf-8")) == (
        "old",
        "new",
    )
    assert sorted(tmp_path.iterdir()) == names


def test_a_new_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """After an error while writing, no file is left."""
    pieces = (piece.encode() for piece in ["whole", "\ud800"])
    with pytest.raises(UnicodeEncodeError):
        write_to_free(tmp_path, "x", [tmp_path / "a"], pieces)
    assert not list(tmp_path.iterdir())


def test_a_name_as_long_as_file_systems_allow(tmp_path: Path) -> None:
    """The temporary name is shorter, also with four-byte characters."""
    path = tmp_path / ("\U0001f600" * 63)
    replace_own(path, "text")
    assert [path] == list(tmp_path.iterdir())


@UNIX
@pytest.mark.parametrize("target", ["victim", "gone"])
def test_a_link_in_the_place_of_ours_is_replaced(tmp_path: Path, target: str) -> None:
    """A link in our file's place is replaced; its target stays."""
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
    """Links are resolved, also for paths that do not exist yet."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to("real")
    for inside in (root, root / "a/b", root / "in/x", root / "a/../b"):
        assert confined(inside, root) == inside
    for outside in (root / "out", root / "out/x", root / "..", root / "../project2", Path("/etc")):
        with pytest.raises(AggregateError, match="leads out of the project"):
            confined(outside, root)
        assert confined(outside, None) == outside


@UNIX
def test_unlinked_takes_the_project_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in a checkout or the current folder is refused; other names are the user's choice."""
    (tmp_path / "checkout/.git").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    for folder in ("checkout", "plain"):
        (tmp_path / folder / "state").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "plain")
    assert without_links(tmp_path / "elsewhere") == tmp_path / "elsewhere"
    for place in (Path("state"), tmp_path / "checkout/state/data_cache"):
        with pytest.raises(AggregateError, match="through a link"):
            without_links(place)


@UNIX
def test_a_lock_never_waits_for_a_fifo(tmp_path: Path) -> None:
    """A FIFO in a folder's place is an error, not a wait."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").symlink_to("fifo")
    with (
        pytest.raises(OSError, match="Not a directory"),
        exclusive_access(tmp_path / "folder" / "a"),
    ):
        pass


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    """An impossible folder is an error in one sentence."""
    (tmp_path / "a").touch()
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        private_folder(tmp_path / "a")
    with pytest.raises(AggregateError, match="cannot write"):
        replace_own(tmp_path / "a" / "b", "")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives open folders a path")


def _swap(folder: Path, other: Path) -> None:
    folder.rename(folder.with_name("before"))
    folder.symlink_to(other)


@LINUX
def test_a_folder_that_is_swapped_before_a_new_file_leads_nowhere(tmp_path: Path) -> None:
    """Exactly the checked folder is written to, even if a link replaces it meanwhile."""
    folder, other = tmp_path / "project/shots", tmp_path / "other"
    folder.mkdir(parents=True)
    other.mkdir()

    def pieces() -> Iterator[bytes]:
        yield b"text"
        _swap(folder, other)

    write_to_free(folder, "a", iter([folder / "a"]), pieces(), within=tmp_path / "project")
    assert not [*other.iterdir()]
    assert [file.name for file in (tmp_path / "project/before").iterdir()] == ["a"]
    with pytest.raises(AggregateError, match="leads out of the project"):
        write_to_free(folder, "b", iter([folder / "b"]), [b""], within=tmp_path / "project")
    assert not [*other.iterdir()]


class _Swapping(str):
    """A text that swaps a folder at the moment of writing."""

    __slots__ = ("places",)
    places: tuple[Path, Path]

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        _swap(*self.places)
        return super().encode(encoding, errors)


@LINUX
def test_a_folder_that_is_swapped_before_a_replacement_leads_nowhere(tmp_path: Path) -> None:
    """The same for the user's file; its namesake elsewhere stays."""
    folder, other = tmp_path / "project/settings", tmp_path / "other"
    for each in (folder, other):
        each.mkdir(parents=True)
        (each / "a").write_text("before")
    text = _Swapping("after")
    text.places = (folder, other)
    replace_text(folder / "a", text, within=tmp_path / "project")
    assert (other / "a").read_text() == "before"
    assert (tmp_path / "project/before/a").read_text() == "after"
    with pytest.raises(AggregateError, match="leads out of the project"):
        replace_text(folder / "a", "again", within=tmp_path / "project")
    assert (other / "a").read_text() == "before"


@UNIX
def test_a_lock_that_others_keep_is_given_up(tmp_path: Path) -> None:
    """Waiting for another user's lock ends at a limit, with an error."""
    with (
        exclusive_access(tmp_path / "a"),
        pytest.raises(TimeoutError, match="kept its folder locked"),
        exclusive_access(tmp_path / "a", seconds=0.1),
    ):
        pass
    with exclusive_access(tmp_path / "a", seconds=0.1):
        pass


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout as the current folder, with programs; another one is in ``../bin``."""
    for folder in ("tree", "tree/tools", "bin"):
        plant(tmp_path / folder, "bd")
    (tmp_path / "tree/.git").mkdir()
    (tmp_path / "tree/lib").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "tree"


@pytest.mark.parametrize(
    "entry", ["", ".", "tools", "./tools", "{tree}", "{tree}/tools", "../tree/tools", "{link}"]
)
def test_programs_of_the_tree_are_missing(tree: Path, tmp_path: Path, entry: str) -> None:
    """Programs in the tree are ignored, by empty, relative and linked entries of PATH."""
    (tmp_path / "link").symlink_to(tree / "tools")
    path = entry.format(tree=tree, link=tmp_path / "link")
    assert find_program("bd", path=path) is None
    assert find_program("bd", path=f"{path}{os.pathsep}{tmp_path / 'bin'}") == str(
        tmp_path / "bin" / "bd"
    )
    assert search_path(path=f"{path}{os.pathsep}/usr/bin") == "/usr/bin"


def test_a_link_into_the_tree_is_a_program_of_the_tree(tree: Path, tmp_path: Path) -> None:
    """A link to a program in the tree is ignored too."""
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "bd").symlink_to(tree / "bd")
    assert find_program("bd", path=str(tmp_path / "links")) is None


def test_the_whole_checkout_counts(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder of a checkout, programs anywhere in it are ignored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert find_program("bd", path=str(tree / "tools")) == str(tree / "tools" / "bd")
    assert find_program("bd", outside=(tree / "lib",), path=str(tree / "tools")) is None


def test_a_home_in_a_checkout_is_the_users_own(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the user's home is a checkout (dotfiles), its programs count."""
    monkeypatch.setenv("HOME", str(tree))
    assert find_program("bd", path=str(tree / "tools")) == str(tree / "tools" / "bd")


def test_a_program_by_its_path_is_the_users_choice(tree: Path) -> None:
    """A program with an absolute path is accepted."""
    assert find_program(str(tree / "bd")) == str(tree / "bd")
    assert find_program(str(tree / "lib")) is None


@pytest.mark.skipif(sys.platform == "win32", reason="everybody has a home folder there")
@pytest.mark.parametrize(
    "variables",
    [
        {"HOME": "/home/ann/"},
        {"HOME": "/home/ann", "XDG_CACHE_HOME": "/c", "XDG_STATE_HOME": "/s//t"},
        {"HOME": "/home/ann", "XDG_CACHE_HOME": "c", "XDG_STATE_HOME": ""},
        {"HOME": ""},
        {"HOME": "ann", "XDG_CACHE_HOME": "/c"},
    ],
)
def test_the_usual_folders_are_those_of_the_library(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    """The folders of the user equal those of platformdirs."""
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", STATE_VARIABLE, CACHE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == platformdirs.user_cache_path("manual_slop", appauthor=False)
    assert user_state_folder() == platformdirs.user_state_path("manual_slop", appauthor=False)


def test_a_user_without_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home, as in a container, nothing is stored, and all else works (C-6)."""
    import pwd

    def nobody(_: int) -> NoReturn:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(STATE_VARIABLE)
    monkeypatch.delenv(CACHE_VARIABLE)
    folder = project(tmp_path, {"manual_slop.toml": '[project]\nname = "demo"\n'})
    monkeypatch.chdir(folder)
    assert (cache_folder(), user_state_folder()) == (None, None)
    assert state_folder(folder).is_absolute()
    assert not global_config_path().is_relative_to(folder)
    assert as_data(user_config()) == as_data(Config())
    config = load_config(folder / "manual_slop.toml")
    done = send_turn(prepare_turn(config, "Why?", ModelSelection("scripted")))
    assert done.doubts == (
        "the next request will be planned without this one: "
        f"there is no home folder: set {STATE_VARIABLE}",
    )
