"""Rules for secrets, and which of them a text may match.

All patterns run in RE2, in linear time even for hostile files. A secret is within one line: the matched group, or the
whole match without groups.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

import re2

# Words of placeholders; they do not count in a value.
_WORDS = re.compile(
    r"examples?|samples?|dummy|changeme|change|replace|placeholder|redacted|insert|enter|fixme|todo|lorem|ipsum|"
    r"your|here|this|with|fake|mock|invalid|wrong|default|demo|local|host|tests?|testing|foo|bar|baz|qux|spam|eggs|"
    r"passwords?|passwd|passphrase|pass|pwd|secrets?|tokens?|api|key|access|private|auth|client|user|name|admin|root|"
    r"value|string|none|null|true|false|undefined|bearer|basic|django|insecure|hello|world|"
    r"0?123456789|12345678|1234567|123456|12345|1234|123|abcdef|abcd|abc|qwerty|xxx+|[*.x_-]{3,}",
    re.IGNORECASE,
)
# References to a value elsewhere: variables, templates, escapes, paths and addresses.
_REFERENCE = re.compile(
    r"^[{<(\[]|\{\w*\}|\{\{|[$#]\{|\$\(|%\(|%[sd]\b|<\w+>|\(\)|^\$\w+$|^%\w+%$|\\[ux]|://|^(?:\.{0,2}|~)/[a-z]|\.\.\."
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\[)\w+\]?)*[;,]?")
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+")
_DIGIT = re.compile("[0-9]")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_SPECIAL = frozenset("!#$%^&*+=@?~|;")  # not in names, versions and paths
_SHORT_PIECES = 2.9  # average characters between upper case letters and digits; names have more
_MARKS = ("[REDACTED", "***")
# Bits per character of a secret: eight equally frequent characters have 3.0, words and runs less. A value below twelve
# characters hardly reaches that: six different ones have 2.6.
_LEAST_BITS, _LEAST_BITS_OF_SHORT, _SHORT = 3.0, 2.5, 12
# Characters of a token after a known prefix, and without one. Real tokens have 16 and more, from which random words
# are subtracted.
_LEAST_TOKEN, _LEAST_RANDOM = 12, 20


def is_mixed(value: str) -> bool:
    rest = _WORDS.sub("", value)
    has_both = _DIGIT.search(rest) and any(map(str.isalpha, rest))
    return bool(has_both) and len(rest) >= _LEAST_TOKEN and entropy(rest) >= _LEAST_BITS


def is_random(value: str) -> bool:
    return (
        len(value) >= _LEAST_RANDOM
        and is_mixed(value)
        and not _REFERENCE.search(value)
        and not _is_spelled(value)
    )


def is_password(value: str) -> bool:
    is_minified = sum(value.count(sign) for sign in "(){}[]<>;,") > 2 + len(value) // 16
    if is_minified or not value.isprintable() or not is_login(value):
        return False
    rest = _WORDS.sub("", value)
    lower, upper = any(map(str.islower, rest)), any(map(str.isupper, rest))
    digit, special = bool(_DIGIT.search(rest)), not _SPECIAL.isdisjoint(rest)
    if len(rest) < 6 or (_is_spelled(value) and not (lower and upper and special and digit)):
        return False
    if not digit and not (len(rest) >= 10 and (special or _is_scrambled(rest))):
        return False
    # Two kinds of characters: one alone is a word or a number.
    if lower + upper + (not rest.isalnum()) < (1 if digit else 2):
        return False
    return entropy(rest) >= (_LEAST_BITS_OF_SHORT if len(rest) < _SHORT else _LEAST_BITS)


def is_login(value: str) -> bool:
    """Return whether a URL's password is real, not a placeholder."""
    if any(mark in value for mark in _MARKS) or _REFERENCE.search(value):
        return False
    return len(_WORDS.sub("", value)) >= 4


def is_scrambled_password(value: str) -> bool:
    rest = _WORDS.sub("", value)
    return (
        is_password(value)
        and len(rest) >= 10
        and (_is_scrambled(rest) or not _SPECIAL.isdisjoint(rest))
    )


def is_unquoted_password(value: str) -> bool:
    """Return whether an unquoted value is a password, not code."""
    if _DOTTED.fullmatch(value) and not _is_scrambled(value):
        return False
    return is_password(value.rstrip(".,;:"))


def entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def _is_scrambled(name: str) -> bool:
    # Names change less often between letters and digits.
    if _HEXADECIMAL.fullmatch(name) and len(name) >= 24:
        return True
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(name))
    pieces = _PIECES.findall(name)
    return entropy(name) >= _LEAST_BITS and (
        changes >= 4 or len(name) / len(pieces) < _SHORT_PIECES
    )


def _is_spelled(value: str) -> bool:
    # Words and at most one number: ``resetTokenView2``, ``acme-web-1``.
    pieces = [piece for piece in _PIECES.findall(value) if piece.isalnum()]
    words = [piece for piece in pieces if len(piece) >= 3 and piece.isalpha()]
    letters = sum(len(word) for word in words)
    digits = sum(piece.isdigit() for piece in pieces)
    return (
        letters >= 0.75 * sum(map(len, pieces))
        and digits <= 1
        and not _HEXADECIMAL.fullmatch(value)
    )


class SecretRule(NamedTuple):
    id: str  # in the placeholder, ``[REDACTED:id]``
    pattern: str  # RE2 syntax; at most one of its groups matches
    accepts: Callable[[str], bool] | None = None  # whether a matched value is likely a secret
    guessable: bool = False  # values may be short enough to guess them from their hash
    hint: str = ""  # end of the pattern or all of it, a quick filter for texts without a match


# Shared parts of patterns by name.
_PARTS: Final = {
    "UUID": r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    # Beginning of a token: also after an underscore, as in ``backup_ghp_…``, which ends no word.
    "START": r"(?:\b|_)",
    # Words in names of secrets; not "key" alone, since ``sort_key`` and ``key=`` are everywhere.
    "KEYWORD": (
        r"(?:passw(?:or)?d|passphrase|passcode|pwd|(?:\b|_)(?:pass|pw|psk|pepper)\b|(?-i:[a-z](?:Pass|Pw))\b|secret|token|credential|"
        r"identified[ \t]+by|"
        r"(?:api|access|private|auth|encryption|encrypt|signing|signature|master|account|shared|service|app|license|"
        r"webhook|session|cookie|hmac|jwt|admin|storage|root|deploy|fernet)[ _.-]?key)"
    ),
    # Between name and value: an assignment, also with a type as in Go, Rust and TypeScript, or a mapping's colon.
    "ASSIGNED": r"(?::[ \t]*[A-Za-z_&][\w.<>\[\]|&' ]*=|[ \t][\w.*&\[\]]+[ \t]*=|:=|=>|==?|:)[ \t]*(?:\[\]byte\()?",
    # Between name and default value: ``getenv("TOKEN", "...")``, ``token || "..."``.
    "BESIDE": r"(?:,|\(|\|\|?|\?\?|\bor\b)[ \t]*",
    # Between name and value in prose and SQL: ``password is``, ``identified by``.
    "SAID": r"(?:[ \t]+(?:is|was|to|as)?:?[ \t]*)",
    # A quoted value of at least eight characters: shorter ones are mostly words and numbers.
    "QUOTED": (
        r"""(?:[a-zA-Z]{1,2})?(?:"([^"\s]{8,})"|'([^'\s]{8,})'|`([^`\s]{8,})`|\\"([^"\s\\]{8,})\\")"""
    ),
    # An unquoted value of that length, up to an end of values in some language.
    "BARE": r"""([^\s"'`<>(){}\[\],;&|\\]{8,})(?:[\s,;&"'`)\]}\\]|$)""",
}
_JUDGES: Final[dict[str, Callable[[str], bool] | None]] = {
    "-": None,
    "key": lambda value: not value.endswith("EXAMPLE"),
    "login": is_login,
    "mixed": is_mixed,
    "password": is_password,
    "random": is_random,
    "scrambled": is_scrambled_password,
    "unquoted": is_unquoted_password,
}
# The hint is the pattern after this mark, which must be outside groups and alternatives.
_HINT: Final = "«HINT»"
# Id, judge (with ``!`` if values are guessable) and pattern; further lines are indented. Specific rules come first: of
# overlapping matches the earlier rule wins.
_TABLE: Final = r"""
# Clouds
aws-access-key       key        «START»((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b
aws-secret-key       mixed      (?:(?i:aws[\w.-]*(?:secret|private)|secret_?-?access_?-?key|
                                aws_?sk)[^\n]{0,30}?["'\s=:>,]|\b(?:AKIA|ASIA)[A-Z0-9]{16}["']?[ \t]*[,;\t][ \t]*
                                ["']?)([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)
aws-session-token    -          (?i:session_?-?token)["'\]]{0,2}[ \t]*[:=][ \t]*["']?([A-Za-z0-9/+=]{100,})
aws-bedrock-key      -          «START»(ABSK[A-Za-z0-9+/]{80,}={0,2})
google-api-key       -          «START»(AIza[A-Za-z0-9_-]{35})
google-oauth-secret  -          «START»(GOCSPX-[A-Za-z0-9_-]{24,}|ya29\.[A-Za-z0-9_-]{30,}|1//0[A-Za-z0-9_-]{40,})
azure-key            mixed      (?i:accountkey|sharedaccesskey|sharedsecret|accesskey)=([A-Za-z0-9+/]{40,}={0,2})
azure-sas            mixed      [?&;]sig=([A-Za-z0-9%/+]{40,}={0,2})
azure-client-secret  -          «START»([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})
# A token of Azure DevOps by its mark, or beside its name.
azure-devops-token   random     «START»([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b|(?i:(?:azure|devops|azdo|ado|
                                vsts)[\w.-]*(?:pat|token)["']?[ \t]*[:=][ \t]*["']?)([a-z0-9]{52}|[A-Za-z0-9]{84})\b
digitalocean-token   -          «START»(do[opr]_v1_[a-f0-9]{64})
heroku-key           -          «START»(HRKU-[A-Za-z0-9_-]{30,})|(?i:heroku[\w."'-]{0,30}[ \t]*[:=][ \t]*["']?)(«UUID»)
alibaba-access-key   mixed      «START»(LTAI[A-Za-z0-9]{17,21})\b
cloudflare-key       random     «START»(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})|(?i:(?:cloudflare|cf)_[\w.-]*(?:key|
                                token)["']?[ \t]*[:=][ \t]*["']?)([A-Za-z0-9_-]{37,40})\b
vault-token          -          «START»(hv[sbr]\.[A-Za-z0-9_-]{24,})
terraform-token      -          «START»([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})
pulumi-token         -          «START»(pul-[0-9a-f]{40})\b
doppler-token        -          «START»(dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,})
planetscale-token    -          «START»(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,})
supabase-key         -          «START»(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})
pinecone-key         -          «START»(pcsk_[A-Za-z0-9_]{40,})
fly-token            -          «START»(fm[12][ar]?_[A-Za-z0-9+/=,_-]{40,}|fo1_[A-Za-z0-9_-]{43})
databricks-token     -          «START»(dapi[0-9a-f]{32}(?:-[0-9])?)\b
# Code and packages
github-token         -          «START»(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})
gitlab-token         -          «START»(gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.=-]{20,}|
                                GR1348941[A-Za-z0-9_-]{20,})
npm-token            mixed      «START»(npm_[A-Za-z0-9]{36,})|_auth(?:Token)?[ \t]*=[ \t]*"?([A-Za-z0-9_+/=.-]{16,})
pypi-token           -          «START»(pypi-[A-Za-z0-9_-]{50,})
rubygems-key         -          «START»(rubygems_[0-9a-f]{48})\b
crates-token         random     «START»(cio[A-Za-z0-9]{32})\b
nuget-key            -          «START»(oy2[a-z0-9]{43})\b
docker-token         -          «START»(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})|
                                "auth"[ \t]*:[ \t]*"([A-Za-z0-9+/]{16,}={0,2})"
artifactory-key      -          «START»(AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})
atlassian-token      -          «START»(AT[AC]TT3[A-Za-z0-9_=-]{50,}|ATBB[A-Za-z0-9]{24,})
linear-key           -          «START»(lin_(?:api|oauth)_[A-Za-z0-9]{32,})
notion-token         mixed      «START»(ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b
figma-token          -          «START»(figd_[A-Za-z0-9_-]{36,})
airtable-token       -          «START»(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b
postman-key          -          «START»(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b
# Models
anthropic-key        -          «START»(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,})
openai-key           mixed      «START»(sk-(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})
huggingface-token    mixed      «START»((?:hf_|api_org_)[A-Za-z0-9]{30,})
# A key of Groq, xAI, Perplexity, Replicate, NVIDIA or Fireworks.
model-key            random     «START»((?:gsk_|xai-|pplx-|r8_|nvapi-|fw_)[A-Za-z0-9_-]{24,})
langsmith-key        -          «START»(lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,})
# Messages and mail
slack-token          -          «START»(xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{20,})
slack-webhook        -          hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})
discord-token        mixed      «START»([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})|
                                discord(?:app)?\.com/api/webhooks/([0-9]{15,}/[A-Za-z0-9_-]{40,})
telegram-token       -          (?:\b|\bbot)([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})\b
teams-webhook        -          webhook\.office\.com/webhookb2/([0-9a-fA-F@/-]{36,}/IncomingWebhook/[0-9a-zA-Z/-]{32,})
sendgrid-key         -          «START»(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,})
mailgun-key          -          «START»(key-[0-9a-f]{32})\b|(?i:mailgun[\w."' -]*[:=(,][ \t]*["']?)([0-9a-f]{32}-
                                [0-9a-f]{8}-[0-9a-f]{8})\b
mailchimp-key        -          «START»([0-9a-f]{32}-us[0-9]{1,2})\b
brevo-key            -          «START»(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b
twilio-key           -          «START»(SK[0-9a-f]{32})\b|(?i:twilio[\w."' -]{0,30}[:=(,][ \t]*["']?)([0-9a-f]{32})\b
# Shops and payments
stripe-key           mixed      «START»((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})
shopify-token        -          «START»(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b
square-token         mixed      «START»(EAAA[A-Za-z0-9_-]{60}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,})
facebook-token       mixed      «START»(EAA[A-Z][A-Za-z0-9]{80,})\b
dropbox-token        -          «START»(sl\.(?:u\.)?[A-Za-z0-9_-]{120,})
# Watching
datadog-key          -          (?i:(?:datadog|dd)_?-?(?:api|app|application|client)?_?-?(?:key|
                                token)["']?[ \t]*[:=][ \t]*["']?)((?:pub)?[0-9a-f]{32}(?:[0-9a-f]{8})?)\b
new-relic-key        -          «START»(NR(?:AK|II|IQ|RA|SP)-[A-Za-z0-9_-]{25,}|[0-9a-f]{36}(?:NRAL|FFFFNRAL))\b
grafana-token        -          «START»(gl(?:c|sa)_[A-Za-z0-9+/=_]{32,})
sentry-token         -          «START»(sntry[us]_[A-Za-z0-9+/=_]{40,})
posthog-key          -          «START»(ph[xs]_[A-Za-z0-9]{40,})\b
okta-token           -          (?i:okta[\w."' -]{0,30}[:=][ \t]*["']?|SSWS[ \t]+)(00[A-Za-z0-9_-]{40})\b
# Forms shared by many services
age-key              -          «START»(AGE-SECRET-KEY-1[0-9A-Z]{58})\b
# A private key in base64, as in Kubernetes' configurations.
encoded-private-key  -          «START»(LS0tLS1CRUdJTi(?:BSU0Eg|BFQyB|BPUEVOU1NI|BFTkNS|BEU0Eg|
                                BQUklW)[A-Za-z0-9+/]{40,}={0,2})|client-key-data["']?[ \t]*:[ \t]*["']?(
                                [A-Za-z0-9+/]{40,}={0,2})
jwt                  -          «START»(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})
authorization        random     (?i:\b(?:bearer|basic|token|ssws)[ \t]+)([A-Za-z0-9._~+/-]{20,}={0,2})
url-password         login!     [A-Za-z][A-Za-z0-9+.-]+://[^\s/:@"'<>`]*:([^\s/@"'<>`]{6,})@[\w.\[$%{-]|
                                ://([A-Za-z0-9_-]{20,})(?::[^\s/@"'<>`]*)?@[\w\[]
connection-password  password!  (?i:;[ \t]*(?:password|pwd)[ \t]*=[ \t]*)([^;"'\s]{6,})
# The password in the configuration of Redis, LDAP, mail and PostgreSQL.
service-password     unquoted!  \b(?:requirepass|masterauth|bindpw|rootpw)[ \t]+["']?([^\s"']{6,})|
                                \b[\w.+-]+@[\w-]+\.[\w.-]+:([^\s/"'@:]{8,})(?:\s|$)|(?m:^)[\w.*-]+:(?:[0-9]+|
                                \*):[\w.*-]+:[\w.*-]+:([^\s/:]{6,})(?m:$)
# A Google app password in its four groups of letters.
app-password         -!         (?i:«KEYWORD»[\w.-]*["'\])\\]{0,4}[ \t]*[:=][ \t]*["']?)(
                                [a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})\b
# The secret key of a JSON web token or an HMAC.
signing-secret       password!  (?i:\bjwt\.(?:sign|verify|encode|decode)\(|createHmac\(|
                                \bhmac\.new\()[^\n"'`]*(?:"sha[0-9]+"|'sha[0-9]+')?[^\n"'`]*["'`]([^\s"'`]{8,})["'`]
netrc-password       password!  \bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+password[ \t]+(\S{6,})
# A secret value beside or below its name, as in Kubernetes and Terraform.
listed-secret        password!  (?i:\b(?:name|key)["']?[ \t]*[:=][ \t]*["']?[\w.-]*«KEYWORD»[\w.-]*["']?,?[ \t]*
                                (?:\r?\n)?[ \t]*["']?value["']?[ \t]*[:=][ \t]*["']?)([^\s"']{8,})|
                                (?i:\bvariable[ \t]+"[\w-]*«KEYWORD»[\w-]*"[ \t]*\{[ \t]*\r?\n(?:[^\n}]*\n)*?
                                [ \t]*default[ \t]*=[ \t]*)"([^\s"]{8,})"
# A password in the options of curl, mysql, ldapsearch and the like.
login-option         password!  [ \t](?:-u|--user)[ \t=]+["']?(?:[\w.@-]+:([^\s"'@]{6,})|([A-Za-z0-9_-]{20,}):)|
                                \bmysql\w*[ \t][^\n]*[ \t]-p([^\s"'-][^\s"']{5,})|\b(?:sshpass|htpasswd|ldap\w+|
                                docker|twine|mongo\w*|redis-cli)[ \t][^\n]*-(?:p|w|a|bc?[ \t]+\S+[ \t]+\S+)[ \t]+["']?
                                ([^\s"'-][^\s"']{5,})
xml-secret           password!  (?i:[<"'][\w.:-]*)«HINT»(?i:«KEYWORD»[\w.:-]*(?:["'][^<>\n]*)?>[ \t]*)(
                                [^<>\s]{8,})[ \t]*</
# A password behind a user's name, in a call that logs in or connects.
login-secret         scrambled! (?i:auth|login|connect|connection|credentials?|pdo|account|
                                user)[\w.]*[ \t]*[=(:][^\n]*["'][\w.@-]*«HINT»["'][ \t]*,[ \t]*(?:"([^"\s]{8,})"|
                                '([^'\s]{8,})')[ \t]*[),\]]
option-secret        unquoted!  (?i:[ \t"']--?[\w-]*«KEYWORD»)[ \t]+["']?([^\s"'<>$(){}-][^\s"'<>$(){}]{7,})
# A random value assigned to a name such as password, secret, token or api_key.
secret               password!  (?i:«KEYWORD»[\w.-]*["'\])\\]{0,4}[ \t]*)(?:«ASSIGNED»|«BESIDE»|«SAID»)«QUOTED»
# The same in a line with only a variable and its value, whatever signs the value has.
env-secret           unquoted!  (?m:^)[ \t]*(?:-[ \t]+)?(?:(?:export|ENV|ARG|set)[ \t]+)?(?i:\w*)«HINT»(?i:
                                «KEYWORD»\w*)=([^\s"'`<>$(){}]{8,})\r?(?m:$)
# The same without quotes, as in .env, YAML and properties.
bare-secret          unquoted!  (?i:«KEYWORD»[\w.-]*["'\])\\]{0,4}[ \t]*)«ASSIGNED»«BARE»|(?i:\b(?:env|
                                set -x)[ \t]+\w*«KEYWORD»\w*[ \t]+)«BARE»
"""


def _rules() -> Iterator[SecretRule]:
    for line in re.sub(r"\n +", "", _TABLE).strip().split("\n"):
        if not line.startswith("#"):
            rule, judge, pattern = line.split(maxsplit=2)
            for name, part in _PARTS.items():
                pattern = pattern.replace(f"«{name}»", part)
            start, _, hint = pattern.rpartition(_HINT)
            judges = _JUDGES[judge.removesuffix("!")]
            yield SecretRule(rule, start + hint, judges, judge.endswith("!"), hint)


RULES: Final = tuple(_rules())
# Begin and end of a private key; for RE2 and Python.
_MARKER: Final = (
    r"-----(?:BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"|\bPrivate-(?:Lines: [0-9]+|(?:MAC|Hash):)"
)
_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,\d*)?\}")
_ANY_CASE: Final = "(?i:"
# Bytes of an automaton; with 8 MB it is rebuilt again and again, three times as slow.
_MEMORY: Final = 64 << 20


def possible_rules(data: bytes) -> Iterator[tuple[int, re.Pattern[bytes], SecretRule | None]]:
    """Yield the rules that a text may match, each with its rank and pattern; None for private keys."""
    for match, indexes in _automata():
        for number in match(data) or ():
            index = indexes[number]
            rule = RULES[index] if index < len(RULES) else None
            yield index if rule else -1, _compiled(rule.pattern if rule else _MARKER), rule


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    # One by one, since most are never needed. RE2's untyped patterns are used like those of ``re``.
    compiled: re.Pattern[bytes] = re2.compile(pattern, _options())
    return compiled


@cache
def _automata() -> list[tuple[Callable[[bytes], list[int] | None], Sequence[int]]]:
    """Return filters that find the possibly matching rules.

    A filter reads the text once. Each filter has the indexes of its rules. RE2 builds automata lazily, and the patterns
    of one multiply each other's states. So case-insensitive patterns are separate: on 36 MB of sources one automaton
    takes 0.66 s at first and 0.12 later, these two 0.37 and 0.18. Repetition counts are replaced by ``*`` and ``+``:
    they make automata slow, and a too large automaton matches nothing.
    """
    hints = [*(rule.hint for rule in RULES), _MARKER]
    has_words = [_ANY_CASE in hint for hint in hints]
    automata: list[tuple[Callable[[bytes], list[int] | None], Sequence[int]]] = []
    for kind in (True, False):
        indexes = [index for index, has in enumerate(has_words) if has is kind]
        patterns = re2.Set.SearchSet(_options(memory=_MEMORY))
        for index in indexes:
            patterns.Add(_COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", hints[index]))
        patterns.Compile()
        automata.append((patterns.Match, indexes))
    return automata


def _options(*, memory: int = 8 << 20) -> object:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
