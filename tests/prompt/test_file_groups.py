"""Groups of files: what is kept of their files once all is known."""

from dataclasses import replace

import pytest

from aggregate.base.values import Entry, FileItem
from aggregate.project.files import SourceFile
from aggregate.prompt import ResolvedFile
from aggregate.prompt.file_groups import FileGroup, Member
from aggregate.prompt.known_files import KnownFile, KnownGroup

FILE = ResolvedFile("a.py", "/p/a.py", Entry(FileItem("**/*")), by_glob=True)
HASH = bytes(range(32))
USUAL = Member(FILE, content_hash=HASH, identity=HASH + bytes(16), shown=FILE, is_read=True)


@pytest.mark.parametrize(
    ("member", "source", "marks", "is_forgotten"),
    [
        (USUAL, SourceFile("x = 1\n"), (), True),
        (replace(USUAL, shown=None, is_read=False), SourceFile("x = 1\n"), (), True),
        (USUAL, SourceFile("x = 1\n"), ("a.py",), False),
        (USUAL, SourceFile("x = 1\n", encoding="latin-1"), (), False),
        (replace(USUAL, shown=None), SourceFile("x = 1\n"), (), False),
        (replace(USUAL, shown=FILE.in_full()), SourceFile("x = 1\n"), (), False),
        (replace(USUAL, content_hash=b""), SourceFile("x = 1\n"), (), False),
        (replace(USUAL, content_hash=HASH[::-1]), SourceFile("x = 1\n"), (), False),
    ],
)
def test_members_are_kept_only_where_they_tell_more(
    member: Member, source: SourceFile, marks: tuple[str, ...], is_forgotten: bool
) -> None:
    """A group whose files are shown as asked keeps their identities alone, one with any other keeps all (rule I-6)."""
    known = KnownGroup.of([KnownFile.of("a.py", source)])
    group = FileGroup([FILE], [0], b"name", members=[member], known=known)
    identities, key = group.identities, group.key
    group.forget_members(marks)
    assert (group.members == []) is is_forgotten
    assert (group.identities, group.key) == (identities, key)
