"""What a text must hold for a rule to find anything in it: all rules together are looked for in two passes.

RE2 builds its states while it runs, and where rules share a pass the states of each multiply those of the others. So a
sign leaves out what makes states and tells little: borders of words, counts, and of long patterns all but one part. A
sign that is too wide costs a search by its rule; one that misses what the rule would find hides a secret.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from aggregate.base.redaction.rules import PARTS, RULES

_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,\d*)?\}")
_BORDER: Final = re.compile(r"\(\?:\\b\|_\)|(?<!\\)\\b")

# Parts of the rules whose whole patterns make many states, such as those that begin with any letters.
_PART_OF: Final = {
    "airtable-token": r"\.[0-9a-f]{12}",
    "authorization": r"(?i:(?:bearer|basic|token|ssws)[ \t]+)[A-Za-z0-9._~+/-]{12}",
    "azure-client-secret": r"[0-9]Q~",
    "azure-devops-token": r"AZDO|(?i:(?:azure|devops|azdo|ado|vsts)[\w.-]*(?:pat|token))",
    "crates-token": r"cio[A-Za-z0-9]{9}",
    "discord-token": r"[MNO][A-Za-z0-9_-]+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]|discord(?:app)?\.com",
    "docker-token": r'dckr_|"auth"[ \t]*:',
    "dropbox-token": r"sl\.(?:u\.)?[A-Za-z0-9_-]{9}",
    "login-option": (
        r"""[ \t](?:-u|--user)[ \t=]+["']?(?:[\w.@-]+:|[A-Za-z0-9_-]{20})"""
        r"|(?:mysql|sshpass|htpasswd|ldap|docker|twine|mongo|redis-cli)\w*[ \t][^\n]*-[pwab]"
    ),
    "mailchimp-key": r"[0-9a-f]-us[0-9]",
    "netrc-password": r"machine[ \t]+\S+[ \t]+login",
    "new-relic-key": r"NR(?:AK|II|IQ|RA|SP)-|NRAL",
    "notion-token": r"ntn_|secret_[A-Za-z0-9]{16}",
    "nuget-key": r"oy2[a-z0-9]{9}",
    "openai-key": r"sk-(?:proj|svcacct|admin|None|or-v1|lf)-|sk-[A-Za-z0-9]{16}",
    "pypi-token": r"pypi-[A-Za-z0-9_-]{9}",
    "service-password": (
        r"requirepass|masterauth|bindpw|rootpw|@[\w-]+\.[\w.-]+:[^\s/\"'@:]|:(?:[0-9]+|\*):[\w.*-]+:[\w.*-]+:"
    ),
    "signing-secret": r"(?i:jwt\.(?:sign|verify|encode|decode)\(|createHmac\(|hmac\.new\()",
    "terraform-token": r"\.atlasv1\.",
    "url-password": r"""://[^\s/"'<>`]*@""",
}
# Signs of rules that have a beginning in common: the name of a secret.
_NAMED: Final = (
    (
        r"""(?i:«KEYWORD»[\w.-]*["'\])\\]*[ \t]*)(?:(?i:«ASSIGNED»|«BESIDE»|«SAID»)«QUOTED»|(?i:«ASSIGNED»)«BARE»)""",
        ("secret", "bare-secret"),
    ),
    (
        r"""(?i:«KEYWORD»)(?:[\w.-]*["'\])\\]*[ \t]*[:=][ \t]*["']?[a-z]+ [a-z]"""
        r"""|[\w.:-]*(?:["'][^<>\n]*)?>[ \t]*[^<>\s]+[ \t]*</)""",
        ("app-password", "xml-secret"),
    ),
    (r"(?i:(?:env|set -x)[ \t]+\w*«KEYWORD»\w*[ \t])", ("bare-secret",)),
)
# Others that look for such names, or for whole lines: a pass of their own keeps the first one small.
_IN_SECOND_PASS: Final = ("env-secret", "option-secret", "listed-secret", "login-secret")


class Sign(NamedTuple):
    pattern: str  # RE2 syntax
    rules: tuple[int, ...]  # whose it is, by their places in ``RULES``


def passes(marker: str) -> tuple[list[Sign], list[Sign]]:
    """Return the signs of either pass; that of private keys, ``marker``, stands for the place behind all rules."""
    places = {rule.id: place for place, rule in enumerate(RULES)}
    second = [
        Sign(_with_parts(pattern), tuple(places[name] for name in names))
        for pattern, names in _NAMED
    ]
    apart = {*_IN_SECOND_PASS, *(name for _, names in _NAMED for name in names)}
    first = list(_signs(places, [name for name in places if name not in apart]))
    first.append(Sign(_without_counts(marker), (len(RULES),)))
    return first, [*second, *_signs(places, _IN_SECOND_PASS)]


def _signs(places: dict[str, int], names: Iterable[str]) -> Iterator[Sign]:
    for name in names:
        place = places[name]
        whole = _without_counts(_BORDER.sub("", RULES[place].pattern))
        yield Sign(_PART_OF.get(name, whole), (place,))


def _with_parts(pattern: str) -> str:
    for name, part in PARTS.items():
        pattern = pattern.replace(f"«{name}»", part)
    return _without_counts(pattern)


def _without_counts(pattern: str) -> str:
    return _COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", pattern)
