"""Folders of an overview: their shares, and what each holds in a sentence (rule T-12)."""

import pytest

from aggregate.prompt.fit import large_folders
from aggregate.prompt.sections import describing_files, first_sentence


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        ("a/__init__.py", '"""Count tokens. And more."""\n', "Count tokens."),
        ("a/__init__.py", '"""."""\n', ""),
        ("a/mod.rs", "//! Filters by\n//! owner.\n\nuse x;\n", "Filters by owner."),
        ("a/doc.go", "// Copyright 2014 A.\n\npackage a\n", ""),
        ("a/index.ts", "/**\n * Routes requests.\n */\nexport {}\n", "Routes requests."),
        ("a/README.md", "# A\n\n[![badge](x)](y)\n\nHolds images. See b.\n", "Holds images."),
        (
            "a/README.md",
            "<picture>\n  <img\n    alt='A'\n  />\n</picture>\n\nHooks for B.\n",
            "Hooks for B.",
        ),
        ("a/README.md", "Made by [`make-app`](https://a.b/c). See d.\n", "Made by `make-app`."),
        ("a/index.ts", "/* istanbul ignore file */\n\n// Re-export\n", ""),
        ("a/package.json", '{"name": "a", "description": "The core"}', "The core"),
        ("a/package.json", "{broken", ""),
        ("a/main.py", "import os\n", ""),
        ("a/main.rs", "#![allow(clippy::single)]\n\nmod cmd;\n", ""),
        (
            "a/README.md",
            "1. **Build**\n\n```js\nimport x;\n```\n\nLogs it (i.e. prints it). B.\n",
            "Logs it (i.e. prints it).",
        ),
        ("a/README.md", "**Note**\n\nSends mail.\n", "Sends mail."),
    ],
)
def test_a_file_says_what_its_folder_holds(path: str, text: str, sentence: str) -> None:
    """A docstring, a comment, a README or a package's description, and no licence (rule T-12)."""
    assert first_sentence(path, text) == sentence


def test_a_repeated_sentence_gives_way_to_a_heading() -> None:
    """Where many pages begin alike, a folder has the first line of its page that differs (rule T-12)."""
    page = "All the code\n\n## Chapter 2: Trees\n\nWhere trees grow.\n"
    assert first_sentence("a/README.md", page) == "All the code"
    assert first_sentence("a/README.md", page, repeated={"All the code"}) == "Chapter 2: Trees"


def test_of_several_files_the_best_describes_a_folder() -> None:
    """What a package says of itself goes before the file that starts it (rule T-12)."""
    paths = ["a/main.py", "a/__init__.py", "b/lib.rs", "README.md", "c/x.py"]
    assert describing_files(paths) == {"a/": ["a/__init__.py", "a/main.py"], "b/": ["b/lib.rs"]}


def test_large_folders_are_split_and_small_ones_are_not() -> None:
    """Shares go to what holds much of the code, the largest first (rule T-12)."""
    sizes = {
        "src/a/1.py": 500,
        "src/a/2.py": 400,
        "src/b/1.py": 300,
        "src/main.py": 20,
        "x/1.py": 50,
    }
    assert large_folders(sizes, 14) == [
        ["src/a/1.py", "src/a/2.py"],
        ["src/b/1.py"],
        ["x/1.py"],
        ["src/main.py"],
    ]
    assert large_folders({}, 14) == [[]]
