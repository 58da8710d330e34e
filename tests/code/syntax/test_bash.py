"""Bash: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = r"""
#!/usr/bin/env bash
# Builds and ships.
# Needs git.

set -euo pipefail
source ./lib.sh
. "$HOME/.env"

readonly LIMIT=10
NAME="a # b { }"
export MODE

usage() {
  cat <<'EOF'
usage: build {
# not a comment
}
EOF
}

function build {
  local target="${1:-all}"
  if [[ $target == "}" ]]; then
    return 1
  fi
  make "$target"
}

function ship() (
  cd out && push
)

short() { :; }

log() {
  printf '%s\n' "$*"
} >&2

if [ -n "${CI:-}" ]; then
  on_ci() {
    echo "on ci"
  }
fi

case "${1:-}" in
  ship) ship ;;
  *) build "$@" ;;
esac
"""[1:]

SKELETON = """\
#!/usr/bin/env bash
# Builds and ships.
# Needs git.

set -euo pipefail
source ./lib.sh
. "$HOME/.env"

readonly LIMIT=10
NAME="a # b { }"
export MODE

usage() { : ...; }

function build { : ...; }

function ship() { : ...; }

short() { :; }

log() { : ...; } >&2

if [ -n "${CI:-}" ]; then
  on_ci() { : ...; }
fi

case "${1:-}" in
  ship) ship ;;
  *) build "$@" ;;
esac
"""

OUTLINE = """\
13-19  usage()
21-27  function build
29-31  function ship()
33-33  short()
35-37  log()
40-42  on_ci()
"""

SUMMARY = """\
bash, 48 lines, 6 functions
Builds and ships. Needs git.
imports: ./lib.sh, "$HOME/.env"
constants: LIMIT, NAME
functions: usage, build, ship, short, log, on_ci
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.sh", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.sh", SAMPLE) == OUTLINE
    assert summary_of("a.sh", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.sh", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"log": "def"}, "log() {\n  printf '%s\\n' \"$*\"\n} >&2"),
        (
            {"build": "sig", "ship": "def"},
            "function build\n\nfunction ship() (\n  cd out && push\n)",
        ),
        ({"short": "hide", "on_ci": "sig"}, "on_ci()"),
        ({"gone": "sig"}, "ERROR: symbol not found: gone in a.sh"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Functions are picked whole, with their redirections, or by signature (M-35, M-X15)."""
    assert masked_of("a.sh", SAMPLE, mask) == text


def test_strings_and_heredocs_do_not_confuse() -> None:
    """Braces and hashes in strings, heredocs and expansions end no body (M-33)."""
    source = 'a() {\n  echo "}" \'}\' ${x#\\}} # }\n  cat <<E\n}\nE\n}\nB="$(cat <<E\nf() { no; }\nE\n)"\n'
    assert skeleton_of("a.sh", source) == 'a() { : ...; }\nB="$(cat <<E\nf() { no; }\nE\n)"\n'
    check_skeleton("a.sh", source)


def test_a_group_around_the_whole_file_stays_open() -> None:
    """Braces around a script are no function body (M-33)."""
    source = '{ # all of it\nfirst() {\n  echo one two three\n}\nfirst "$@"\n} # all of it\n'
    assert (
        skeleton_of("a.sh", source)
        == '{ # all of it\nfirst() { : ...; }\nfirst "$@"\n} # all of it\n'
    )
