"""Bash: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, skeleton_of


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
