"""A sample of each language: skeleton, outline, digest and picked symbols, text in and text out.

``samples/<language>.txt`` holds the file's name and text, with what the skeleton cuts out between ``⟦`` and ``⟧``, and
below it what each view shows.
"""

import pytest

from aggregate.code.syntax import LanguageKind, language_of
from tests.viewing import (
    SAMPLES,
    check_skeleton,
    masked_of,
    outline_of,
    sample,
    skeleton_of,
    summary_of,
)

SLOW = {"tsx"}
"""Languages whose patterns take long to compile, and are those of another one here."""
NAMES = [
    pytest.param(path.stem, marks=pytest.mark.slow if path.stem in SLOW else ())
    for path in sorted(SAMPLES.glob("*.txt"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_view(name: str) -> None:
    """Skeleton, outline, digest and masks of a sample, with each grammar and its patterns loaded once.

    Bodies are cut out, wherever they stand; all else stays byte for byte, line by line (M-33). The outline has a row
    per definition, nested; the digest names what the file is made of (M-32, M-34). A symbol stands for all its
    overloads, by name or path; a local name is no symbol (M-35, M-X15).
    """
    shown = sample(name)
    language = language_of(shown.path, shown.text)
    assert language is not None
    assert language.name == name
    check_skeleton(shown.path, shown.text)
    if language.kind is LanguageKind.CODE:
        assert skeleton_of(shown.path, shown.text) == shown.cut(language.placeholder)
    assert outline_of(shown.path, shown.text) == shown.views["outline"]
    assert summary_of(shown.path, shown.text) + "\n" == shown.views["summary"]
    for mask, text in shown.masks:
        assert masked_of(shown.path, shown.text, mask) + "\n" == text, mask
