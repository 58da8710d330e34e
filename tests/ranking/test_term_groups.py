"""Tables over a group of files: the same as looking into each file."""

from collections import Counter

from hypothesis import given, strategies as st

from aggregate.ranking import term_hash, terms_in
from aggregate.ranking.files import (
    MOST_MEMBERS,
    Analysis,
    NameGroup,
    TermGroup,
    analyse,
    pack_names,
    pack_terms,
)

PARTS = [
    "class Shape:", "def area():", "    retry(Shape)", "import os", "x = 1", "", "getUser = 2", "# 设置",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), max_size=60).map("\n".join)
FILES = st.lists(st.one_of(st.none(), TEXTS), max_size=8)


def found_with(analysis: Analysis | None, term: str) -> tuple[int, int]:
    """Return how often an analysis finds a term, and in how many pieces."""
    pieces = analysis.pieces_with(term) if analysis else ()
    return min(sum(count for _, count in pieces), 255), min(len(pieces), 255)


def counted(group: TermGroup, term: str) -> list[tuple[int, int, int]]:
    """Return ``(file, occurrences, pieces)`` as a group finds them."""
    members, counts = group.files_with(term_hash(term))
    return [(member, *divmod(count, 256)) for member, count in zip(members, counts, strict=True)]


@given(FILES)
def test_a_group_finds_what_its_files_hold(texts: list[str | None]) -> None:
    """Terms, defined and used names are found in the files that have them, and in no others (rules T-4 and I-6)."""
    analyses = [None if text is None else analyse("a.py", text) for text in texts]
    group, names = TermGroup(pack_terms(analyses)), NameGroup(pack_names(analyses))
    terms = Counter[str]()
    for text in texts:
        terms.update(terms_in(text or ""))
    for term in [*terms, "absent", ""]:
        held = {member: found_with(each, term) for member, each in enumerate(analyses)}
        expected = [(member, *counts) for member, counts in held.items() if counts[0]]
        assert counted(group, term) == expected
    for name in ("Shape", "area", "retry", "os", "x", "getuser", "absent"):
        definitions = [
            (member, place)
            for member, each in enumerate(analyses)
            for place, definition in enumerate(each.definitions if each else ())
            if definition.path[-1] == name
        ]
        assert list(names.files_defining(term_hash(name))) == definitions
        users = [
            member
            for member, each in enumerate(analyses)
            if each and any(reference.name == name for reference in each.references)
        ]
        assert list(names.files_referring(term_hash(name))) == users


def test_a_full_group_counts_to_its_last_file() -> None:
    """A group may have as many files as one byte names, and counts end at 255 (rule I-6)."""
    analyses = [analyse("a.txt", "retry\n\n" * 20_000)] * MOST_MEMBERS
    group = TermGroup(pack_terms(analyses))
    assert counted(group, "retry") == [(member, 255, 255) for member in range(MOST_MEMBERS)]


def test_keys_of_data_are_no_names() -> None:
    """A name that data use as a key is defined by programs alone (rule T-2)."""
    data = analyse("a.json", '{"area": {"b": 1}}')
    code = analyse("a.py", "def area(): pass\n")
    assert data.definitions
    assert list(NameGroup(pack_names([data, code])).files_defining(term_hash("area"))) == [(1, 0)]
