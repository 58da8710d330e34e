"""Replacing secrets: the text, the findings, and each rule."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate.base.redaction import Redaction, redact
from aggregate.base.redaction.secret_rules import RULES
from aggregate.base.redaction.secrets import PRIVATE_KEY
from tests.base.redaction.samples import FRESH, PLANTED, PROJECTS, RARE, Sample, digest_of, pem

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
    """Redacting keeps all line ends, and lines without a finding."""
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
    """Redacting a redacted text changes nothing."""
    once = redact(text, ALL)
    twice = redact(once.text, ALL)
    assert (twice.text, twice.findings) == (once.text, ())


@given(texts, st.text("\n x=", max_size=20))
def test_what_follows_changes_nothing_before(text: str, behind: str) -> None:
    """An appended line does not change the lines above, so a cached prefix holds."""
    whole = f"{text}\n\n"
    assert redact(f"{whole}{behind}", ALL).text.startswith(redact(whole, ALL).text)


@given(texts)
def test_findings_are_in_order_and_in_the_text(text: str) -> None:
    """Findings are sorted, with existing lines and rules."""
    lines = [finding.line for finding in redact(text, ALL).findings]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


def test_the_placeholder_names_the_rule() -> None:
    """Only the secret is replaced; the finding has rule and line, not the value."""
    out = redact(f'# a\n# b\nkey = "{KEY}"  # c\n', ALL)
    assert out.text == '# a\n# b\nkey = "[REDACTED:github-token]"  # c\n'
    (finding,) = out.findings
    assert (finding.rule, finding.line, finding.digest) == ("github-token", 3, digest_of(KEY))
    assert KEY not in repr(out.findings) + finding.sentence
    assert finding.sentence == (
        f'redacted (github-token); if it is not a secret: allow = ["{digest_of(KEY)}"] under [redaction], '
        "or a comment with aggregate: allow-secret on the line"
    )


def test_a_passwords_hash_is_not_told() -> None:
    """The warning omits hashes of possibly short values: they could be guessed."""
    (finding,) = redact(f'{{"password": "{PASSWORD}"}}', ALL).findings
    assert finding.digest == ""
    assert "sha256" not in finding.sentence


def test_short_secrets_in_short_texts() -> None:
    """A placeholder is shortened for a short text; the secret still goes."""
    for text in (f"pwd={PASSWORD}", f"pwd='{PASSWORD[:9]}7x'"):
        out = redact(text, ALL)
        assert PASSWORD[:9] not in out.text
        assert len(out.text) <= 1.2 * len(text)
    assert redact(f"pwd={PASSWORD}", ALL).text == "pwd=[REDACTED]"


def test_allowed_values_stay() -> None:
    """Values with an allowed hash stay, others go."""
    text = f"a: {KEY}\nb: {KEY[:-1]}_\nc: {KEY[:-2]}xy\n"
    out = redact(text, Redaction(frozenset({digest_of(KEY)})))
    assert out.text == f"a: {KEY}\nb: {KEY[:-1]}_\nc: [REDACTED:github-token]\n"


def test_allowed_lines_stay() -> None:
    """A comment in any language allows the secrets of its own line only."""
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
    """A name before a token does not hide it."""
    token = "ghp_" + "a1B2" * 9
    assert (
        redact(f"x = {before}{token}\n", Redaction()).text
        == f"x = {before}[REDACTED:github-token]\n"
    )


LINEAR_SECONDS = 10
"""What a quadratic search of the texts below exceeds many times; a linear one needs a part of a second."""


def missed(samples: tuple[Sample, ...]) -> list[str]:
    """Return the samples whose secret is still in the redacted text."""
    return [
        f"{one.kind} in {one.path}" for one in samples if one.value in redact(one.content, ALL).text
    ]


def test_each_rule_finds_something() -> None:
    """Each documented kind is found by its rule, and each rule finds something."""
    samples = (*PLANTED, *RARE, *PROJECTS, *FRESH)
    found = [{each.rule for each in redact(one.content, ALL).findings} for one in samples]
    assert set().union(*found) == {rule.id for rule in RULES} | {PRIVATE_KEY}
    rare = found[len(PLANTED) : len(PLANTED) + len(RARE)]
    assert len(set().union(*rare)) == len(RARE)


def test_a_hint_is_all_that_follows_a_part_of_its_pattern() -> None:
    """A text with a match has a hint: the cut is outside groups and alternatives."""
    cut = [rule for rule in RULES if rule.hint != rule.pattern]
    assert cut
    for rule in cut:
        assert rule.pattern.endswith(rule.hint)
        for part in (rule.pattern.removesuffix(rule.hint), rule.hint):
            outside, group = re.sub(r"\\.|\[(?:\\.|[^]\\])*\]", "", part), 1
            while group:
                outside, group = re.subn(r"\([^()]*\)", "", outside)
            assert not set("()|") & set(outside), rule.id


def test_ids_are_names() -> None:
    """Ids are unique, and no placeholder counts as a secret."""
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        placeholder = f"[REDACTED:{rule.id}]"
        for text in (
            placeholder,
            f'password = "{placeholder}"',
            f"https://a:{placeholder}@b",
            f"token: {placeholder}",
        ):
            assert redact(text, ALL).text == text


def test_planted_secrets_are_found() -> None:
    """All of 53 documented kinds are found."""
    assert len(PLANTED) >= 53
    assert missed(PLANTED) == []


@pytest.mark.parametrize("samples", [PROJECTS, FRESH], ids=["projects", "fresh"])
def test_secrets_are_found_as_they_stand_in_projects(samples: tuple[Sample, ...]) -> None:
    """At least nine of ten are found in typical files."""
    assert len(missed(samples)) <= 0.1 * len(samples), missed(samples)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("      - POSTGRES_PASSWORD=@@", "Tr0ub4dor&3x!9"),
        (r'"source": ["os.environ[\"WANDB_API_KEY\"] = \"@@\""]', "zA6cWnSgUKLCrTxeYU7Z69qW"),
        ('var jwtKey = []byte("@@")', "IpN2vdCha7O5lWgLS77mUito3M"),
        ("curl -u @@: https://host/", "ac57dc64d3bf2e6604d017b0ca3751e578dafa17"),
    ],
)
def test_places_where_a_secret_stands(line: str, value: str) -> None:
    """Values are found on their own line, in notebooks, as bytes of Go, and as user names."""
    before, _, behind = line.partition("@@")
    text = redact(before + value + behind, ALL).text
    assert (text.startswith(f"{before}[REDACTED"), text.endswith(behind)) == (True, True)
    assert not any(piece in text for piece in (value[:6], value[-4:]))


@pytest.mark.parametrize(
    "line",
    [
        'password = "password"',
        'password = "changeme123"',
        "password: ${DB_PASSWORD}",
        'token = os.environ["API_TOKEN"]',
        "api_key = settings.API_KEY_V2",
        'API_KEY = "your-api-key-here"',
        "postgres://user:password@localhost/db",
        "https://user:${TOKEN}@host/",
        "secret_key = generate_secret_key(length=50)",
        "csrf_token = request.COOKIES.get(settings.CSRF_COOKIE_NAME)",
        'password = "xxxxxxxxxxxx"',
        "AKIAIOSFODNN7" + "EXAMPLE",
        "-----BEGIN " + 'PRIVATE KEY-----" + body + "-----END ' + "PRIVATE KEY-----",
        '"integrity": "sha512-k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5Zt4Qr2M7dk9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5Zt4Qr2=="',
        "commit 3f9a1c7e5b2d8f604a6c9e1b7d3f5082c4e6a809",
        "key-value, sk-learn, hf_transfer, npm_config_registry, pul-requests",
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    """Placeholders, variables, code, hashes and names stay."""
    assert redact(line, ALL).findings == ()


def test_this_package_has_no_secrets() -> None:
    """The rules find nothing in their own source or tests."""
    places = [Path("src/aggregate/base/redaction"), Path("tests/base/redaction")]
    files = [path for place in places for path in sorted(place.glob("*.py"))]
    found = {path.name: redact(path.read_text(encoding="utf-8"), ALL).findings for path in files}
    assert len(found) > 4
    assert {name: findings for name, findings in found.items() if findings} == {}


def _hostile() -> dict[str, str]:
    """Return texts that make backtracking or quadratic searches extremely slow."""
    size = 200_000
    texts = {one.kind: one.content for one in (*PLANTED, *RARE)}
    half = {f"half of {name}": text[: len(text) // 2] for name, text in texts.items()}
    others = {
        "begins": "-----BEGIN " + "PRIVATE KEY-----",
        "keywords": "password",
        "assignments": "password='",
        "schemes": "https://a:b",
        "base64": "a" * 64 + "\n",
        "words": "eyJ",
        "spaces": "password  ",
    }
    return {name: text * (size // len(text)) for name, text in {**texts, **half, **others}.items()}


def test_time_grows_with_the_text_alone() -> None:
    """200 KB of keywords and markers take seconds in all."""
    texts = _hostile()
    redact("", ALL)
    begun = time.process_time()
    for name in ("begins", "keywords", "assignments", "schemes", "base64", "words", "spaces"):
        redact(texts[name], ALL)
    assert time.process_time() - begun < LINEAR_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_hostile()))
def test_no_pattern_is_slow_on_any_text(name: str) -> None:
    """Ten times the text takes about ten times as long."""
    text = _hostile()[name]
    begun = time.process_time()
    redact(text * 5, ALL)
    assert time.process_time() - begun < LINEAR_SECONDS


@pytest.mark.parametrize("kind", ["", "RSA", "EC", "OPENSSH", "ENCRYPTED", "DSA"])
def test_private_keys_lose_their_lines_content(kind: str) -> None:
    """A key's first line becomes the placeholder, the others stars; its markers stay."""
    key = pem(kind, "x", lines=3)
    out = redact(f"a\n{key}b\n", ALL)
    begin, *_, end = key.strip().split("\n")
    hidden = ["[REDACTED:private-key]", "***", "***", "***"]
    assert out.text.split("\n") == ["a", begin, *hidden, end, "b", ""]
    assert [(finding.rule, finding.line) for finding in out.findings] == [("private-key", 3)]


def test_private_keys_in_code_and_json() -> None:
    """Quotes, comment signs and escapes around a key's lines stay, so the code still parses."""
    key = pem("RSA", "y", lines=2)
    begin, first, second, last, end = key.strip().split("\n")
    quoted = "\n".join(f'    "{line}\\n"' for line in (begin, first, second, last, end))
    assert redact(quoted, ALL).text == "\n".join(
        f'    "{line}\\n"' for line in (begin, "[REDACTED:private-key]", "***", "***", end)
    )
    escaped = '{"private_key": "' + key.replace("\n", "\\n") + '", "x": 1}'
    assert (
        redact(escaped, ALL).text
        == '{"private_key": "' + f"{begin}\\n[REDACTED:private-key]\\n{end}\\n" + '", "x": 1}'
    )


def test_a_private_key_without_an_end() -> None:
    """A truncated key loses its lines up to the first other one."""
    lines = pem("EC", "z", lines=3).split("\n")[:4]
    assert redact("\n".join([*lines, "and so on", "", "x = 1"]), ALL).text.split("\n")[1:] == [
        "[REDACTED:private-key]", "***", "***", "and so on", "", "x = 1",
    ]  # fmt: skip


@pytest.mark.parametrize("ended", [True, False])
def test_private_keys_of_putty(ended: bool) -> None:
    """Private lines go, even in a truncated file; public ones, names and checksums stay."""
    base64 = pem("", "p", lines=3).split("\n")[1:5]
    head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 2\n"
    public = "\n".join(pem("", "q", lines=2).split("\n")[1:3])
    mac = f"\nPrivate-MAC: {'0f' * 32}\n" if ended else ""
    text = f"{head}{public}\nPrivate-Lines: 4\n" + "\n".join(base64) + mac
    hidden = "\n".join(["[REDACTED:private-key]", "***", "***", "***"])
    assert redact(text, ALL).text == f"{head}{public}\nPrivate-Lines: 4\n{hidden}{mac}"
