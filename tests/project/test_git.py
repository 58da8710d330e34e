"""Changes since a revision, commits, and attributes of generated files, from git."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import ConfigError
from aggregate.project.git import (
    LoggedCommit,
    changed_lines,
    commit_ids,
    find_head,
    generated_marks,
    read_changes,
    read_commits,
    read_contexts,
    why_no_history,
)
from aggregate.project.git.git_history import FileChange, changes_in
from aggregate.project.git.guarded_git import guarded_environment
from tests.project.history import Repository
from tests.project.repository import git
from tests.projects import project

LINES = "".join(f"line {number}\n" for number in range(1, 11))


def test_committed_staged_changed_and_new_files(tmp_path: Path) -> None:
    """All existing files that differ from the revision count, except ignored ones (rule T-2)."""
    repository = Repository(tmp_path)
    texts = dict.fromkeys(["committed.py", "staged.py", "changed.py", "same.py", "gone.py"], LINES)
    repository.commit("begin", {**texts, ".gitignore": "*.log\n"})
    repository.commit("more", {"committed.py": LINES.replace("line 3\n", "line 3a\nline 3b\n")})
    repository.write({"staged.py": LINES.replace("line 9\n", ""), "born.py": LINES})
    git(tmp_path, "add", "-A")
    repository.write(
        {"changed.py": LINES.replace("line 1\n", "LINE 1\n"), "sub/ü b.py": "x", "x.log": ""}
    )
    (tmp_path / "gone.py").unlink()
    uncommitted = [
        ("born.py", 0, 0),
        ("changed.py", 1, 1),
        ("staged.py", 8, 8),
        ("sub/ü b.py", 0, 0),
    ]
    assert changed_lines(str(tmp_path), "HEAD") == uncommitted
    since = [*uncommitted, ("committed.py", 3, 4)]
    assert changed_lines(str(tmp_path), "HEAD~1") == sorted(since)
    assert changed_lines(str(tmp_path / "sub"), "HEAD") == [("ü b.py", 0, 0)]


REVISIONS = [
    "-h", "--output=x", "nowhere", "HEAD~9", "HEAD:a.py", "a b", "\n", " ", "x\0y", "HEAD..",
    "x" * 5000,
    "@{",
]  # fmt: skip


def test_a_revision_that_there_is_not(tmp_path: Path) -> None:
    """An unknown revision is one sentence, and never reaches git as an option (rule T-2)."""
    Repository(tmp_path).commit("begin", {"a.py": LINES})
    assert changed_lines(str(tmp_path), "HEAD") == []
    for revision in REVISIONS:
        with pytest.raises(ConfigError, match="revision") as caught:
            changed_lines(str(tmp_path), revision)
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir() if path.name != ".git"] == ["a.py"]


def test_no_repository_to_compare_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing repository or git is one sentence (rule T-2)."""
    with pytest.raises(ConfigError, match="not in a git repository"):
        changed_lines(str(tmp_path), "HEAD")
    git(tmp_path, "init", "-q")
    with pytest.raises(ConfigError, match="revision"):
        changed_lines(str(tmp_path), "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="not installed"):
        changed_lines(str(tmp_path), "HEAD")


def test_changes_with_their_lines(tmp_path: Path) -> None:
    """Each changed file has kind, line counts and hunks, for any content and name (rule T-8)."""
    repository = Repository(tmp_path)
    begun = {
        "a/a/b.py": "--- a/x\n+++ b/y\n\nend\n",
        "gone.py": "1\n",
        "g.bin": "\0",
        "m.bin": "\0",
    }
    repository.commit("begin", begun)
    repository.write(
        {
            "a/a/b.py": "@@ -1 +1 @@\n-- a/x\n\nend",
            "m.bin": "\0\0",
            "ü new.py": "2\n",
            "other.py": "3\n",
        }
    )
    (tmp_path / "gone.py").unlink()
    (tmp_path / "g.bin").unlink()
    git(tmp_path, "add", "ü new.py")
    hunk = "@@ -1,4 +1,4 @@\n---- a/x\n-+++ b/y\n+@@ -1 +1 @@\n+-- a/x\n \n-end\n+end\n\\ No newline at end of file"
    changes = read_changes(str(tmp_path), "HEAD")
    assert [(*change[:2], change.added, change.removed, change.hunks) for change in changes] == [
        ("a/a/b.py", "", 3, 3, (hunk,)),
        ("g.bin", "deleted", 0, 0, ()),
        ("gone.py", "deleted", 0, 1, ("@@ -1 +0,0 @@\n-1",)),
        ("m.bin", "binary", 0, 0, ()),
        ("other.py", "not tracked", 0, 0, ()),
        ("ü new.py", "new", 1, 0, ("@@ -0,0 +1 @@\n+2",)),
    ]


def test_changes_without_lines_of_their_own(tmp_path: Path) -> None:
    """Renamed files have their changed lines; empty changes and submodules are listed (T-8)."""
    repository = Repository(tmp_path)
    begun = {"a.py": LINES, "b.py": LINES * 2, "run.sh": "x\n", "i.bin": "\0" * 500}
    repository.commit("begin", begun)
    for old, new in (("a.py", "ü a.py"), ("b.py", "sub/b.py"), ("i.bin", "j.bin")):
        (tmp_path / new).parent.mkdir(exist_ok=True)
        (tmp_path / old).rename(tmp_path / new)
    repository.write({"ü a.py": LINES.replace("line 5", "LINE 5"), "empty.py": ""})
    (tmp_path / "run.sh").chmod(0o755)
    inner = Repository(tmp_path / "inner")
    inner.commit("inner", {"c.py": "1\n"})
    git(tmp_path, "add", "-A")
    told = [(each.path, each.kind, each.added) for each in read_changes(str(tmp_path), "HEAD")]
    assert told == [
        ("empty.py", "new", 0),
        ("inner", "new", 1),
        ("j.bin", "renamed from i.bin", 0),
        ("run.sh", "", 0),
        ("sub/b.py", "renamed from b.py", 0),
        ("ü a.py", "renamed from a.py", 1),
    ]
    assert ("ü a.py", 5, 5) in changed_lines(str(tmp_path), "HEAD")


def test_git_keeps_the_authorities_that_the_user_names(tmp_path: Path) -> None:
    """Variables for certificates are passed to git, those for repositories and programs are not."""
    given = {"GIT_SSL_CAINFO": "/ca.pem", "GIT_SSL_CAPATH": "/ca", "GIT_DIR": "x", "GIT_SSH": "y"}
    kept = guarded_environment(str(tmp_path), given)
    assert {name for name in given if name in kept} == {"GIT_SSL_CAINFO", "GIT_SSL_CAPATH"}


def test_large_changes_are_told_by_file(tmp_path: Path) -> None:
    """Beyond the limit of a diff, files count as a whole (rule T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    repository.write({"a.py": "2\n", "b.py": "x" * 10_000 + "\n", "c.py": "2\n"})
    assert changed_lines(str(tmp_path), "HEAD", most_bytes=1_000) == [
        ("a.py", 1, 1),
        ("b.py", 1, 1),
        ("c.py", 0, 0),
    ]


def test_large_files_are_not_compared(tmp_path: Path) -> None:
    """A file over a megabyte counts as a whole (rule T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.txt": "1\n" * 600_000})
    repository.write({"a.txt": "2\n" * 600_000})
    assert changed_lines(str(tmp_path), "HEAD") == [("a.txt", 0, 0)]


def log(folder: Path, *, most_bytes: int = 1_000_000) -> list[LoggedCommit]:
    head = find_head(str(folder))
    assert head is not None
    ids = commit_ids(str(folder), head, most=1000)
    commits = read_commits(str(folder), ids, most_bytes=most_bytes)
    return [commits[commit_id] for commit_id in ids]


def contexts(folder: Path) -> list[list[tuple[str, str]]]:
    """Return the contexts of all commits of a folder, newest first."""
    head = find_head(str(folder))
    assert head is not None
    ids = commit_ids(str(folder), head, most=1000)
    read = read_contexts(str(folder), head, ids)
    return [read[commit_id] for commit_id in ids]


def test_messages_and_files_of_commits(tmp_path: Path) -> None:
    """Commits are listed newest first, without the first one and merges (rule T-2)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1"})
    repository.commit("Fix a\n\nBecause of ü.", {"a.py": "2", "sub/b c.py": "1"})
    git(tmp_path, "checkout", "-qb", "side")
    repository.commit("side", {"d.py": "1"})
    git(tmp_path, "checkout", "-q", "-")
    repository.commit("main", {"a.py": "3"})
    git(tmp_path, "merge", "-q", "--no-edit", "side")
    told = [(commit.message.strip(), commit.paths) for commit in log(tmp_path)]
    assert sorted(told[:2]) == [("main", ("a.py",)), ("side", ("d.py",))]
    assert told[2:] == [("Fix a\n\nBecause of ü.", ("a.py", "sub/b c.py"))]
    below = [(commit.message.strip(), commit.paths) for commit in log(tmp_path / "sub")]
    assert below == [("Fix a\n\nBecause of ü.", ("b c.py",))]


def test_names_and_messages_cannot_be_forged(tmp_path: Path) -> None:
    """Odd file names and messages cannot pass for commits (T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1"})
    older = repository.commit("", {"a.py": "2"})
    odd = [older, "\n", "\nb\x01", "-r", os.fsdecode(b"\xff")]
    repository.commit(f"{older}\n\nx", dict.fromkeys(odd, "x"))
    newest, oldest = log(tmp_path)
    assert set(newest.paths) == set(odd)
    assert newest.message.startswith(older)
    assert (oldest.message.strip(), oldest.paths) == ("", ("a.py",))


def test_a_commit_of_many_files_tells_of_none(tmp_path: Path) -> None:
    """A commit with more than 200 files has a message and no paths (rule T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1"})
    repository.commit("many", {f"f{n}": "1" for n in range(200 + 1)})
    repository.commit("most", {f"f{n}": "2" for n in range(200)})
    assert [len(commit.paths) for commit in log(tmp_path)] == [200, 0]


def test_floods_in_a_row_cost_only_themselves(tmp_path: Path) -> None:
    """Commits with huge output do not hide others, in any batch (I-2, T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1"})
    repository.commit("old", {"a.py": "2"})
    for number in range(5):
        repository.commit(f"flood {number}", {f"{n}{'x' * 200}": str(number) for n in range(50)})
    repository.commit("long " * 3_000, {"a.py": "3"})
    repository.commit("new", {"a.py": "4"})
    head = find_head(str(tmp_path))
    assert head is not None
    ids = commit_ids(str(tmp_path), head, most=99)
    floods = [(f"flood {number}", ()) for number in reversed(range(5))]
    for asked_at_once in (1, 3, 99):
        read: dict[str, LoggedCommit] = {}
        for start in range(0, len(ids), asked_at_once):
            asked = ids[start : start + asked_at_once]
            read |= read_commits(str(tmp_path), asked, most_bytes=8_000)
        told = [(read[name].message.strip()[:7], read[name].paths) for name in ids]
        assert told == [("new", ("a.py",)), ("long lo", ()), *floods, ("old", ("a.py",))]


SOURCE = """\
class Cart:
    def total(self):
        a = 1
        return a

    async def price(self,
                    of):
        b = 1


        return b
"""


def test_the_definitions_around_changes(tmp_path: Path) -> None:
    """Git reports the innermost definition in known languages, none for new files (rule T-2)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": SOURCE, "b.go": "package b\n"})
    repository.commit(
        "change",
        {
            "a.py": SOURCE.replace("a = 1", "a = 2").replace("return b", "return 3"),
            "new.py": SOURCE,
        },
    )
    expected = [("a.py", "def total(self):"), ("a.py", "async def price(self,")]
    assert contexts(tmp_path) == [expected]


def test_no_attributes_of_the_work_tree_count(tmp_path: Path) -> None:
    """Files outside a commit do not change its data (rule T-4)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": SOURCE})
    repository.commit("change", {"a.py": SOURCE.replace("a = 1", "a = 2")})
    before = contexts(tmp_path)
    repository.write({".gitattributes": "*.py -diff\n"})
    git(tmp_path, "add", "-A")
    assert contexts(tmp_path) == before == [[("a.py", "def total(self):")]]


def test_a_shallow_clone_tells_what_it_has(tmp_path: Path) -> None:
    """The oldest commit of a shallow clone does not count as adding all files (rule T-5)."""
    repository = Repository(tmp_path / "all")
    for number in range(4):
        repository.commit(f"number {number}", {"a.py": str(number), f"b{number}.py": ""})
    git(tmp_path, "clone", "-q", "--depth", "2", (tmp_path / "all").as_uri(), "few")
    head = find_head(str(tmp_path / "few"))
    assert head is not None
    assert head.is_shallow
    assert [commit.message.strip() for commit in log(tmp_path / "few")] == ["number 3"]


@pytest.mark.parametrize(("left_out", "commits"), [("blob:none", 2), ("tree:0", 0)])
def test_a_clone_without_contents_fetches_nothing(
    tmp_path: Path, left_out: str, commits: int
) -> None:
    """A partial clone fetches nothing (rules T-4 and T-5)."""
    repository = Repository(tmp_path / "all")
    git(tmp_path / "all", "config", "uploadpack.allowFilter", "true")
    for number in range(3):
        repository.commit(f"number {number}", {"a.py": f"def f():\n    return {number}\n"})
    address = (tmp_path / "all").as_uri()
    git(tmp_path, "clone", "-q", "--no-checkout", f"--filter={left_out}", address, "part")
    objects = sorted((tmp_path / "part" / ".git" / "objects").rglob("*"))
    head = find_head(str(tmp_path / "part"))
    assert head is not None
    ids = commit_ids(str(tmp_path / "part"), head, most=9)
    assert len(ids) == 2
    assert len(read_commits(str(tmp_path / "part"), ids)) == commits
    assert not any(read_contexts(str(tmp_path / "part"), head, ids).values())
    assert sorted((tmp_path / "part" / ".git" / "objects").rglob("*")) == objects


def test_a_linked_worktree_has_its_own_head(tmp_path: Path) -> None:
    """A linked work tree has the history of its branch (rule T-2)."""
    repository = Repository(tmp_path / "all")
    repository.commit("begin", {"a.py": SOURCE})
    git(tmp_path / "all", "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "a.py").write_text(SOURCE.replace("a = 1", "a = 2"), encoding="utf-8")
    git(tmp_path / "side", "commit", "-qam", "side")
    assert [commit.message.strip() for commit in log(tmp_path / "side")] == ["side"]
    assert contexts(tmp_path / "side") == [[("a.py", "def total(self):")]]
    assert log(tmp_path / "all") == []


def test_where_there_is_no_history(tmp_path: Path) -> None:
    """Without a repository, commit or valid reference there is no head and no error (rule T-5)."""
    assert find_head(str(tmp_path)) is None
    assert "not in a git repository" in why_no_history(str(tmp_path))
    assert why_no_history("a\0b")
    git(tmp_path, "init", "-q")
    assert find_head(str(tmp_path)) is None
    assert why_no_history(str(tmp_path)) == ""
    (tmp_path / ".git" / "HEAD").write_text("garbage", encoding="utf-8")
    assert find_head(str(tmp_path)) is None


def test_missing_contents_are_no_error(tmp_path: Path) -> None:
    """Commits with missing objects have no data (rule T-5)."""
    repository = Repository(tmp_path)
    for number in range(3):
        repository.commit(f"number {number}", {"a.py": str(number)})
    head = find_head(str(tmp_path))
    assert head is not None
    ids = commit_ids(str(tmp_path), head, most=9)
    for folder in (tmp_path / ".git" / "objects").iterdir():
        shutil.rmtree(folder)
    assert read_commits(str(tmp_path), ids) == {}
    assert read_contexts(str(tmp_path), head, ids) == {}
    assert commit_ids(str(tmp_path), head, most=9) == ()


def test_what_is_told_of_a_commit_is_its_own(tmp_path: Path) -> None:
    """A commit over the limit does not affect others of its batch (rules I-2 and T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": SOURCE})
    for name in ("a", "large", "b", "half", "most", "c"):
        size = {"large": 60_000, "half": 25_000, "most": 30_000}.get(name, 0)
        body = f"'{name * size}'"
        repository.commit(name, {"a.py": SOURCE.replace("a = 1", f"a = {body}")})
        repository.commit("back", {"a.py": SOURCE})
    head = find_head(str(tmp_path))
    assert head is not None
    ids = commit_ids(str(tmp_path), head, most=99)
    for asked_at_once in (1, 2, 9):
        read: dict[str, list[tuple[str, str]]] = {}
        for start in range(0, len(ids), asked_at_once):
            asked = ids[start : start + asked_at_once]
            read |= read_contexts(str(tmp_path), head, asked, most_bytes=150_000)
        assert [[line for _, line in read.get(name, [])] for name in ids] == [
            [] if place in (8, 9) else ["def total(self):"] for place in range(12)
        ]


def test_another_object_in_a_commits_place_does_not_count(tmp_path: Path) -> None:
    """Local replacement objects are ignored (rule T-4)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1"})
    first = repository.commit("first", {"a.py": "2"})
    second = repository.commit("second", {"a.py": "3"})
    before = log(tmp_path)
    git(tmp_path, "replace", second, first)
    assert log(tmp_path) == before


@pytest.mark.parametrize(
    ("encoding", "expected"), [("ISO-8859-1", "retry ÿ"), ("UTF-16", ""), ("ucs-4", "")]
)
def test_messages_in_other_encodings(tmp_path: Path, encoding: str, expected: str) -> None:
    """Messages in encodings that do not extend ASCII are skipped: git would print its memory (T-2)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "0"})
    for _ in range(2):
        repository.commit(f"login {'session ' * 1_000}", {"a.py": "1"})
        tree = git(tmp_path, "rev-parse", "HEAD^{tree}").decode().strip()
        raw = f"tree {tree}\nparent {git(tmp_path, 'rev-parse', 'HEAD').decode().strip()}\n"
        raw += "author A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n"
        (tmp_path / "raw").write_bytes(f"{raw}encoding {encoding}\n\n".encode() + b"retry \xff")
        commit = git(tmp_path, "hash-object", "-t", "commit", "-w", "raw").decode().strip()
        git(tmp_path, "update-ref", "HEAD", commit)
    messages = [commit.message for commit in log(tmp_path)]
    assert [message.rstrip("\n") for message in messages[::2]] == [expected] * 2


PATCH = b"""\
\x000123456789abcdef

diff --git a/a.py b/a.py
index 4023191..5d083fd 100644
--- a/a.py
+++ b/a.py
@@ -4 +4,2 @@ def f(self):
-@@ -1 +1 @@ forged
+--- a/forged
++++ b/forged
@@ -13,2 +14,0 @@
-diff --git a/x b/x
-\x00forged
\\ No newline at end of file
diff --git a/new b c.py b/new b c.py
new file mode 100644
index 0000000..809f14c
--- /dev/null
+++ b/new b c.py\t
@@ -0,0 +1 @@
+x
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git "a/\\303\\274\\n\\"q.py" "b/\\303\\274\\n\\"q.py"
index 1..2 100644
--- "a/\\303\\274\\n\\"q.py"
+++ "b/\\303\\274\\n\\"q.py"
@@ -1 +1 @@
-x
+y
diff --git a/a and b.bin b/a and b.bin
index 1..2 100644
Binary files a/a and b.bin and b/a and b.bin differ
diff --git a/new.bin b/new.bin
new file mode 100644
Binary files /dev/null and b/new.bin differ
diff --git a/old.bin b/old.bin
deleted file mode 100644
Binary files a/old.bin and /dev/null differ
"""


def test_a_patch_with_all_kinds_of_changes() -> None:
    """Content never passes for a line of git's own (T-2)."""
    changes = list(changes_in(PATCH))
    assert changes == [
        FileChange(
            "a.py",
            "",
            (
                "@@ -4 +4,2 @@ def f(self):\n-@@ -1 +1 @@ forged\n+--- a/forged\n++++ b/forged",
                "@@ -13,2 +14,0 @@\n-diff --git a/x b/x\n-\x00forged\n\\ No newline at end of file",
            ),
        ),
        FileChange("new b c.py", "new", ("@@ -0,0 +1 @@\n+x",)),
        FileChange("gone.py", "deleted", ("@@ -1 +0,0 @@\n-x",)),
        FileChange('ü\n"q.py', "", ("@@ -1 +1 @@\n-x\n+y",)),
        FileChange("a and b.bin", "binary"),
        FileChange("new.bin", "new"),
        FileChange("old.bin", "deleted"),
    ]
    assert [(one.added, one.removed) for one in changes[:3]] == [(2, 3), (1, 0), (0, 1)]


def test_a_patch_that_was_cut_anywhere() -> None:
    """A truncated patch gives the first results of the whole, without error (rule T-5)."""
    whole = list(changes_in(PATCH))
    for end in range(len(PATCH)):
        told = list(changes_in(PATCH[:end]))
        assert told[:-1] == whole[: max(len(told) - 1, 0)]


FILES = ["a.py", "b c.py", "d/a.py", "d/e/a.go", "d/e/é.go", "#x", "lib/a.min.js"]
PATTERNS = st.sampled_from(
    [
        "*", "*.py", "a.py", "/a.py", "d/", "d/**", "d/*", "e/*.go", "**/e/*", "lib", "[ab]*", "?.py", "!a.py",
        "#x",
    ]
)  # fmt: skip
_NAME = "linguist-generated"
ATTRIBUTES = st.sampled_from(
    [
        _NAME,
        f"-{_NAME}",
        f"!{_NAME}",
        f"{_NAME}=true",
        f"{_NAME}=false",
        "text", "linguist-vendored", "diff=generated",
    ]
)  # fmt: skip
RULES = st.builds(
    lambda pattern, attributes: " ".join((pattern, *attributes)),
    PATTERNS,
    st.lists(ATTRIBUTES, max_size=3),
)


def as_git_says(folder: Path) -> dict[str, bool]:
    output = git(folder, "check-attr", "-z", "linguist-generated", "--", *FILES)
    fields = os.fsdecode(output).split("\0")[:-1]
    values = dict(zip(fields[::3], fields[2::3], strict=True))
    return {
        path: value in ("set", "true") for path, value in values.items() if value != "unspecified"
    }


@settings(max_examples=30)
@given(st.lists(RULES, max_size=4), st.lists(RULES, max_size=3))
def test_marks_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory, above: list[str], below: list[str]
) -> None:
    """Order, nesting and values agree with ``git check-attr`` (M-60)."""
    folder = tmp_path_factory.mktemp("r")
    files = {".gitattributes": "\n".join(above), "d/.gitattributes": "\n".join(below)}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    assert generated_marks(str(folder), FILES) == (as_git_says(folder), [])


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Links to attributes are ignored, and so are attributes outside of a repository."""
    project(tmp_path, {"p/.gitattributes": "*.py linguist-generated\n"})
    project(tmp_path, {"outside": "* linguist-generated\n", "p/linked/x.c": ""})
    (tmp_path / "p/linked/.gitattributes").symlink_to(tmp_path / "outside")
    paths = ["many/a.py", "linked/x.c", "../outside"]
    assert generated_marks(str(tmp_path / "p"), paths) == ({}, [])
    git(tmp_path / "p", "init", "-q")
    assert generated_marks(str(tmp_path / "p"), paths) == ({"many/a.py": True}, [])


def test_a_deep_tree_ends(tmp_path: Path) -> None:
    """A path of thousands of folders needs no recursion."""
    deep = "d/" * 5_000 + "a.py"
    assert generated_marks(str(tmp_path), [deep]) == ({}, [])
