"""What becomes of a slice, shown whole: the old text, the new text and the answer."""

from textwrap import dedent

import pytest

from aggregate.code.anchors import AnchorState, FuzzyAnchor, Resolution


def text(drawn: str) -> str:
    """Return a text drawn indented in the source of a test."""
    return dedent(drawn).lstrip("\n")


def resolve(old: str, start: int, end: int, new: str) -> Resolution:
    """Capture lines of a text and look for them in another."""
    return FuzzyAnchor.resolve(FuzzyAnchor.create_slice(text(old), start, end), text(new))


OLD = """
    import os
    import sys

    def read(path):
        with open(path) as stream:
            return stream.read()

    def write(path, text):
        with open(path, "w") as stream:
            stream.write(text)

    def main():
        print(read(sys.argv[1]))
    """


SCENARIOS = {
    "lines put in above": (
        """
          # Licence: MIT
          import os
          import sys

          def read(path):
              with open(path) as stream:
                  return stream.read()

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)
        """,
        (5, 7, AnchorState.MOVED, "moved from lines 4-6"),
    ),
    "two functions swapped": (
        """
          import os
          import sys

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)

          def read(path):
              with open(path) as stream:
                  return stream.read()

          def main():
              print(read(sys.argv[1]))
        """,
        (8, 10, AnchorState.MOVED, "moved from lines 4-6"),
    ),
    "a parameter added": (
        """
          import os
          import sys

          def read(path, encoding="utf-8"):
              with open(path, encoding=encoding) as stream:
                  return stream.read()

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)
        """,
        (4, 6, AnchorState.EDITED, "lines 4-6 were edited: 77 % alike"),
    ),
    "a line put in and a line above": (
        """
          import os
          import re
          import sys

          def read(path):
              print(path)
              with open(path) as stream:
                  return stream.read()

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)
        """,
        (5, 8, AnchorState.EDITED, "lines 4-6 were edited: 91 % alike"),
    ),
    "indented into a class": (
        """
          import os
          import sys

          class Files:
              def read(path):
                  with open(path) as stream:
                      return stream.read()

              def write(path, text):
                  with open(path, "w") as stream:
                      stream.write(text)
        """,
        (5, 7, AnchorState.EDITED, "only white space changed in lines 4-6"),
    ),
    "taken out": (
        """
          import os
          import sys

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)

          def main():
              print(read(sys.argv[1]))
        """,
        (0, 0, AnchorState.ORPHANED, "lines 4-6 no longer exist in this file"),
    ),
    "a copy put in right above": (
        """
          import os
          import sys

          def read(path):
              with open(path) as stream:
                  return stream.read()

          def read(path):
              with open(path) as stream:
                  return stream.read()

          def write(path, text):
              with open(path, "w") as stream:
                  stream.write(text)

          def main():
              print(read(sys.argv[1]))
        """,
        (0, 0, AnchorState.AMBIGUOUS, "2 places match equally well: lines 4, 8"),
    ),
    "another file altogether": (
        """
          The quick brown fox
          jumps over the lazy dog
        """,
        (0, 0, AnchorState.ORPHANED, "lines 4-6 no longer exist in this file"),
    ),
    "nothing left": ("", (0, 0, AnchorState.ORPHANED, "lines 4-6 no longer exist in this file")),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_becomes_of_a_function(name: str) -> None:
    """Each edit gives its own state, lines and sentence (M-17, M-41); without a sure place no lines (M-X9)."""
    new, expected = SCENARIOS[name]
    found = resolve(OLD, 4, 6, new)
    assert (found.start_line, found.end_line, found.state, found.reason) == expected


COPIES = """
    func first() {
        check(err)
        log("first")
        return nil
    }

    func second() {
        check(err)
        log("second")
        return nil
    }

    func third() {
        check(err)
        log("third")
        return nil
    }
    """


def test_a_copied_line_is_told_by_its_surroundings() -> None:
    """The line moves with its function although the place where it stood now holds a copy of it (M-41)."""
    new = """
      func second() {
          check(err)
          log("second")
          return nil
      }

      func first() {
          check(err)
          log("first")
          return nil
      }

      func third() {
          check(err)
          log("third")
          return nil
      }
    """
    found = resolve(COPIES, 8, 8, new)
    assert (found.start_line, found.state) == (2, AnchorState.MOVED)


def test_the_copies_of_a_lost_line_are_not_taken_for_it() -> None:
    """Where the one copy with the right surroundings went, no other is shown in its stead (M-X9)."""
    new = """
      func first() {
          check(err)
          log("first")
          return nil
      }

      func second() {
          log("second")
          return nil
      }

      func third() {
          check(err)
          log("third")
          return nil
      }
    """
    found = resolve(COPIES, 8, 8, new)
    assert (found.found, found.start_line, found.end_line) == (False, 0, 0)
