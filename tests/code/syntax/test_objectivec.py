"""Objective-C: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from aggregate.code.syntax import language_of


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.h", "@interface Shape : NSObject\n@end\n", "objectivec"),
        ("a.h", "// uses @interface\nclass Shape {};\n", "cpp"),
        ("a.h", "struct shape;\n", "c"),
        ("a.m", "#import <Foundation/Foundation.h>\n", "objectivec"),
        ("a.m", "% Areas.\nfunction area = area(radius)\n  area = pi * radius^2;\nend\n", None),
    ],
)
def test_files_that_share_a_suffix(path: str, text: str, name: str | None) -> None:
    """A header is Objective-C by what it declares, and MATLAB's files are none (M-33)."""
    language = language_of(path, text)
    assert (language and language.name) == name
