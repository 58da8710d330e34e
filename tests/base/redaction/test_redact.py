"""Replacing secrets: what the text keeps, and what a finding tells."""

import pytest
from hypothesis import given, strategies as st

from aggregate.base.redaction import redact
from aggregate.base.redaction.redact import digest_of
from aggregate.base.values import Redaction
from tests.base.redaction.samples import PLANTED, PROJECTS, RARE, pem

ALL = Redaction()
KEY = next(sample for sample in PLANTED if sample.kind == "github-classic").value
PASSWORD = next(sample for sample in PROJECTS if sample.kind == "json").value

# fmt: off
_pieces = st.one_of(
    st.sampled_from([sample.content for sample in (*PLANTED, *PROJECTS)]),
    st.sampled_from([sample.value for sample in (*PLANTED, *PROJECTS)]),
    st.sampled_from([sample.content for sample in RARE]),
    st.sampled_from(
        [pem("RSA", "a", lines=2), pem("", "b"), pem("EC", "c")[:200], pem("EC", "c")[100:]]
    ),
    st.sampled_from(["password=", "token: ", "secret = '", '"', "'", "`", "\n", "\r\n", " ", "=", "://a:", "@b"]),
    st.sampled_from(["aws", "-----", "***", "é", "密码", "\U0001f511", "\ud800", "\x85", "\u2028", "\f", "\t", "\\n"]),
    st.just("[REDACTED:x]"),
    st.text(max_size=30),
    st.text("abcdefgh0123456789ABCDEF+/=_-", max_size=60),
)
# fmt: on
texts = st.lists(_pieces, max_size=14).map("".join)


@given(texts)
def test_lines_stay_lines(text: str) -> None:
    """Each line of the text is a line of the redacted one with the same end, and one without a finding is unchanged."""
    out = redact(text, ALL)
    before, after = text.split("\n"), out.text.split("\n")
    assert len(before) == len(after)
    assert [line.endswith("\r") for line in before[:-1]] == [
        line.endswith("\r") for line in after[:-1]
    ]
    if not out.findings:
        assert out.text == text


@given(texts)
def test_never_longer_than_a_fifth_more(text: str) -> None:
    """The redacted text has at most 1.2 times the characters."""
    assert len(redact(text, ALL).text) <= 1.2 * len(text)


@given(texts)
def test_once_is_enough(text: str) -> None:
    """Redacting what was redacted finds nothing and changes nothing."""
    once = redact(text, ALL)
    twice = redact(once.text, ALL)
    assert (twice.text, twice.findings) == (once.text, ())


@given(texts, st.text("\n x=", max_size=20))
def test_what_follows_changes_nothing_before(text: str, behind: str) -> None:
    """A line that is added below leaves the lines above as they were, so that a cache's prefix holds."""
    whole = f"{text}\n\n"
    assert redact(f"{whole}{behind}", ALL).text.startswith(redact(whole, ALL).text)


@given(texts)
def test_findings_are_in_order_and_in_the_text(text: str) -> None:
    """Findings name lines that the text has, in order, by rules that exist."""
    lines = [finding.line for finding in redact(text, ALL).findings]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


def test_the_placeholder_names_the_rule() -> None:
    """The secret alone is replaced; the finding has rule and line, and never the value."""
    out = redact(f'# a\n# b\nkey = "{KEY}"  # c\n', ALL)
    assert out.text == '# a\n# b\nkey = "[REDACTED:github-token]"  # c\n'
    (finding,) = out.findings
    assert (finding.rule, finding.line, finding.digest) == (
        "github-token",
        3,
        digest_of(KEY.encode()),
    )
    assert KEY not in repr(out.findings) + finding.sentence
    assert finding.sentence == (
        f'redacted (github-token); if it is no secret: allow = ["{digest_of(KEY.encode())}"] under [redaction], '
        "or a comment with aggregate: allow-secret on the line"
    )


def test_a_passwords_hash_is_not_told() -> None:
    """The hash of what may be short could be found by trying, so the warning leaves it out."""
    (finding,) = redact(f'{{"password": "{PASSWORD}"}}', ALL).findings
    assert finding.digest == ""
    assert "sha256" not in finding.sentence


def test_short_secrets_in_short_texts() -> None:
    """Where a placeholder would make the text too long it is shortened, and the secret is gone all the same."""
    for text in (f"pwd={PASSWORD}", f"pwd='{PASSWORD[:9]}7x'"):
        out = redact(text, ALL)
        assert PASSWORD[:9] not in out.text
        assert len(out.text) <= 1.2 * len(text)
    assert redact(f"pwd={PASSWORD}", ALL).text == "pwd=[REDACTED]"


def test_allowed_values_stay() -> None:
    """A value whose hash is allowed stays wherever it is, others go."""
    text = f"a: {KEY}\nb: {KEY[:-1]}_\nc: {KEY[:-2]}xy\n"
    out = redact(text, Redaction(frozenset({digest_of(KEY.encode())})))
    assert out.text == f"a: {KEY}\nb: {KEY[:-1]}_\nc: [REDACTED:github-token]\n"


def test_allowed_lines_stay() -> None:
    """A comment of any language lets the secrets of its own line stand, and of no other."""
    comments = (
        "# aggregate: allow-secret",
        "// aggregate: allow-secret",
        "<!-- aggregate: allow-secret -->",
    )
    for comment in comments:
        text = f'k = "{KEY}" {comment}\nk = "{KEY}"\n'
        assert redact(text, ALL).text == f'k = "{KEY}" {comment}\nk = "[REDACTED:github-token]"\n'


@pytest.mark.parametrize("before", ["backup_", "A__", "_"])
def test_a_token_behind_an_underscore(before: str) -> None:
    """A name in front of a token does not hide it."""
    token = "ghp_" + "a1B2" * 9
    assert (
        redact(f"x = {before}{token}\n", Redaction()).text
        == f"x = {before}[REDACTED:github-token]\n"
    )
