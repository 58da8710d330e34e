"""Statements: which lines of a text are shown together, by grammars and without."""

from textwrap import dedent

import pytest

from aggregate.code.syntax import guess_statements, language_of, read_statements


def together(path: str, text: str) -> list[str]:
    """Return the lines of each statement of several, as ``1 3-4``."""
    language = language_of(path, text)
    lines = text.split("\n")
    firsts = read_statements(text, language) if language else guess_statements(lines, "groovy")
    groups: dict[int, list[int]] = {}
    for line, first in enumerate(firsts, start=1):
        groups.setdefault(first, []).append(line)
    return [_ranges(group) for group in groups.values() if len(group) > 1]


def _ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " ".join(f"{part[0]}-{part[-1]}" if part[1:] else f"{part[0]}" for part in parts)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            '''\
            @cached
            @named(
                "f",
            )
            def f(
                x,
            ):
                """Say.

                More.
                """
                y = 1

                try:
                    go(
                        x
                    )
                except E:
                    return (
                        y)
            ''',
            ["1-7", "8-11", "14 18", "15-17", "19-20"],
        ),
        (
            "a.py",
            """\
            class A:
                # Of the class.
                def f(self):

                    # Of the body.
                    # More.
                    return g(
                        # Of an argument.
                        1,
                    )
            """,
            ["7-10"],
        ),
        (
            "a.go",
            """\
            func f(
              x int,
            ) {
              if a {
                b()
              } else if c {
                d()
              }
              // why
              e(x,
                y)
            }
            """,
            ["1-3 12", "4 6 8", "10-11"],
        ),
        (
            "a.rs",
            """\
            #[derive(Debug)]
            // why
            #[other]
            pub struct A {
                b: u8,
                c: u8,
            }

            fn f() {
                a
                    .b()
                    .c();
            }
            """,
            ["1-7", "9 13", "10-12"],
        ),
        (
            "a.hpp",
            """\
            #ifndef A
            #define A
            template <
                typename T>
            class B {
             public:
              void f(int a,
                     int b);
            };

            #define M(x) \\
              (x)
            #endif
            """,
            ["1 13", "3-5 9", "7-8", "11-12"],
        ),
        (
            "a.jsx",
            """\
            describe("a", function () {
              it("b", () => {
                c()
              })
              return (
                <div>
                  <b/>
                </div>
              )
            })
            """,
            ["1 10", "2 4", "5-9"],
        ),
        (
            "a.sh",
            """\
            if a; then
              b \\
                c
            else
              d
            fi
            """,
            ["1 4 6", "2-3"],
        ),
        (
            "a.rb",
            """\
            class A
              def b
                c(<<~D)
                  e
                D
                f
              rescue G
                h
              end
            end
            """,
            ["1 10", "2 7 9", "3-5"],
        ),
        (
            "a.vue",
            """\
            <template>
              <p>
                a
              </p>
            </template>
            <script>
            export default {
              b() {
                c()
                d()
              },
            }
            </script>
            """,
            ["1 5", "2 4", "6 13", "7-8 11-12"],
        ),
        ("a.md", "# A\n\nwords\nmore\n\n```js\na\n\nb\n```\n", ["3-4", "6-10"]),
        ("a.groovy", "a(1,\n  2) {\n  b '}'\n  c\n}\nd =\n  2\n", ["1-2 5", "6-7"]),
    ],
)
def test_statements_are_found(path: str, text: str, expected: list[str]) -> None:
    """A head stands with its other branches and its end, decorators with what they stand above (rule B-2)."""
    assert together(path, dedent(text)) == expected


def test_a_long_table_is_cut_between_its_elements() -> None:
    """A short one is shown whole; of a long one the first and last line go together, and each element (rule B-2)."""
    short = "T = [\n" + "    (1,\n     2),\n" * 3 + "]\n"
    long = "T = [\n" + "    (1,\n     2),\n" * 13 + "]\n"
    assert together("a.py", short) == ["1-8"]
    assert together("a.py", long)[:3] == ["1 28", "2-3", "4-5"]


def test_a_region_that_is_no_program_ties_nothing_else() -> None:
    """What a grammar does not understand costs nothing that stands around it (rule B-2)."""
    text = "def f():\n    return (\n        1)\n\n)) ((\n\ndef g():\n    return [\n        2]\n"
    assert "8-9" in together("a.py", text)
