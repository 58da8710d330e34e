"""The table of what counts as a secret.

Every pattern runs in RE2, in time that grows with the text's length alone, whatever a hostile file holds. No secret
crosses a line's end. The secret is the group that matched, or the whole match where there is no group.
"""

from collections.abc import Callable
from typing import NamedTuple

from aggregate.base.redaction.plausibility import (
    is_login,
    is_mixed,
    is_password,
    is_random,
    is_scrambled_password,
    is_unquoted_password,
)


class SecretRule(NamedTuple):
    """One kind of secret."""

    id: str  # stands in the placeholder, ``[REDACTED:id]``
    pattern: str  # RE2 syntax; at most one of its groups takes part in a match
    accepts: Callable[[str], bool] | None = None  # tells whether a matched value is likely a secret
    guessable: bool = False  # values may be short enough to be found from their hash by trying


_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# Where a token may begin: names such as ``backup_ghp_…`` put it behind an underscore, which is no word's end.
_START = r"(?:\b|_)"
# What names of secrets hold; a key alone is none, ``sort_key`` and ``key=`` are everywhere.
_KEYWORD = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|(?:\b|_)(?:pass|pw|psk|pepper)\b|(?-i:[a-z](?:Pass|Pw))\b|secret|token|credential|"
    r"identified[ \t]+by|"
    r"(?:api|access|private|auth|encryption|encrypt|signing|signature|master|account|shared|service|app|license|"
    r"webhook|session|cookie|hmac|jwt|admin|storage|root|deploy|fernet)[ _.-]?key)"
)
# Between a name and its value: an assignment, also with a type as in Go, Rust and TypeScript, or a mapping's colon.
_ASSIGNED = r"(?::[ \t]*[A-Za-z_&][\w.<>\[\]|&' ]*=|[ \t][\w.*&\[\]]+[ \t]*=|:=|=>|==?|:)[ \t]*(?:\[\]byte\()?"
# Between a name and a default beside it: ``getenv("TOKEN", "...")``, ``token || "..."``.
_BESIDE = r"(?:,|\(|\|\|?|\?\?|\bor\b)[ \t]*"
# Between a name and its value in prose and SQL: ``password is``, ``identified by``.
_SAID = r"(?:[ \t]+(?:is|was|to|as)?:?[ \t]*)"
# A value in quotes. From eight characters on: shorter ones are mostly words and numbers.
_QUOTED = (
    r"""(?:[a-zA-Z]{1,2})?(?:"([^"\s]{8,})"|'([^'\s]{8,})'|`([^`\s]{8,})`|\\"([^"\s\\]{8,})\\")"""
)
# A value without quotes, as long, up to what ends a value in some language.
_BARE = r"""([^\s"'`<>(){}\[\],;&|\\]{8,})(?:[\s,;&"'`)\]}\\]|$)"""


def _token(rule: str, pattern: str, accepts: Callable[[str], bool] | None = None) -> SecretRule:
    # A token that is known by how it begins.
    return SecretRule(rule, _START + pattern, accepts)


# The specific ones before the general ones: of two that overlap the earlier one counts.
RULES: tuple[SecretRule, ...] = (
    # Clouds
    _token(
        "aws-access-key",
        r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        lambda value: not value.endswith("EXAMPLE"),
    ),
    SecretRule(
        "aws-secret-key",
        r"(?:(?i:aws[\w.-]*(?:secret|private)|secret_?-?access_?-?key|aws_?sk)[^\n]{0,30}?[\"'\s=:>,]|"
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\"']?[ \t]*[,;\t][ \t]*[\"']?)([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        is_mixed,
    ),
    SecretRule(
        "aws-session-token",
        r"(?i:session_?-?token)[\"'\]]{0,2}[ \t]*[:=][ \t]*[\"']?([A-Za-z0-9/+=]{100,})",
    ),
    _token("aws-bedrock-key", r"(ABSK[A-Za-z0-9+/]{80,}={0,2})"),
    _token("google-api-key", r"(AIza[A-Za-z0-9_-]{35})"),
    _token(
        "google-oauth-secret",
        r"(GOCSPX-[A-Za-z0-9_-]{24,}|ya29\.[A-Za-z0-9_-]{30,}|1//0[A-Za-z0-9_-]{40,})",
    ),
    SecretRule(
        "azure-key",
        r"(?i:accountkey|sharedaccesskey|sharedsecret|accesskey)=([A-Za-z0-9+/]{40,}={0,2})",
        is_mixed,
    ),
    SecretRule("azure-sas", r"[?&;]sig=([A-Za-z0-9%/+]{40,}={0,2})", is_mixed),
    _token("azure-client-secret", r"([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})"),
    # A token of Azure DevOps by its mark, or beside its name.
    _token(
        "azure-devops-token",
        r"([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b|"
        r"(?i:(?:azure|devops|azdo|ado|vsts)[\w.-]*(?:pat|token)[\"']?[ \t]*[:=][ \t]*[\"']?)"
        r"([a-z0-9]{52}|[A-Za-z0-9]{84})\b",
        is_random,
    ),
    _token("digitalocean-token", r"(do[opr]_v1_[a-f0-9]{64})"),
    SecretRule(
        "heroku-key",
        _START
        + r"(HRKU-[A-Za-z0-9_-]{30,})|(?i:heroku[\w.\"'-]{0,30}[ \t]*[:=][ \t]*[\"']?)("
        + _UUID
        + ")",
    ),
    _token("alibaba-access-key", r"(LTAI[A-Za-z0-9]{17,21})\b", is_mixed),
    SecretRule(
        "cloudflare-key",
        _START + r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})|"
        r"(?i:(?:cloudflare|cf)_[\w.-]*(?:key|token)[\"']?[ \t]*[:=][ \t]*[\"']?)([A-Za-z0-9_-]{37,40})\b",
        is_random,
    ),
    _token("vault-token", r"(hv[sbr]\.[A-Za-z0-9_-]{24,})"),
    _token("terraform-token", r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})"),
    _token("pulumi-token", r"(pul-[0-9a-f]{40})\b"),
    _token("doppler-token", r"(dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,})"),
    _token("planetscale-token", r"(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,})"),
    _token("supabase-key", r"(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    _token("pinecone-key", r"(pcsk_[A-Za-z0-9_]{40,})"),
    _token("fly-token", r"(fm[12][ar]?_[A-Za-z0-9+/=,_-]{40,}|fo1_[A-Za-z0-9_-]{43})"),
    _token("databricks-token", r"(dapi[0-9a-f]{32}(?:-[0-9])?)\b"),
    # Code and packages
    _token("github-token", r"(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})"),
    _token(
        "gitlab-token",
        r"(gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.=-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
    ),
    _token(
        "npm-token",
        r"(npm_[A-Za-z0-9]{36,})|_auth(?:Token)?[ \t]*=[ \t]*\"?([A-Za-z0-9_+/=.-]{16,})",
        is_mixed,
    ),
    _token("pypi-token", r"(pypi-[A-Za-z0-9_-]{50,})"),
    _token("rubygems-key", r"(rubygems_[0-9a-f]{48})\b"),
    _token("crates-token", r"(cio[A-Za-z0-9]{32})\b", is_random),
    _token("nuget-key", r"(oy2[a-z0-9]{43})\b"),
    _token(
        "docker-token",
        r"(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})|\"auth\"[ \t]*:[ \t]*\"([A-Za-z0-9+/]{16,}={0,2})\"",
    ),
    _token("artifactory-key", r"(AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})"),
    _token("atlassian-token", r"(AT[AC]TT3[A-Za-z0-9_=-]{50,}|ATBB[A-Za-z0-9]{24,})"),
    _token("linear-key", r"(lin_(?:api|oauth)_[A-Za-z0-9]{32,})"),
    _token("notion-token", r"(ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b", is_mixed),
    _token("figma-token", r"(figd_[A-Za-z0-9_-]{36,})"),
    _token("airtable-token", r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b"),
    _token("postman-key", r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b"),
    # Models
    _token("anthropic-key", r"(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,})"),
    _token(
        "openai-key",
        r"(sk-(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})",
        is_mixed,
    ),
    _token("huggingface-token", r"((?:hf_|api_org_)[A-Za-z0-9]{30,})", is_mixed),
    # A key of Groq, xAI, Perplexity, Replicate, NVIDIA or Fireworks.
    _token("model-key", r"((?:gsk_|xai-|pplx-|r8_|nvapi-|fw_)[A-Za-z0-9_-]{24,})", is_random),
    _token("langsmith-key", r"(lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,})"),
    # Messages and mail
    _token(
        "slack-token",
        r"(xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{20,})",
    ),
    SecretRule(
        "slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})"
    ),
    SecretRule(
        "discord-token",
        _START + r"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})|"
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,}/[A-Za-z0-9_-]{40,})",
        is_mixed,
    ),
    SecretRule("telegram-token", r"(?:\b|\bbot)([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})\b"),
    SecretRule(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/([0-9a-fA-F@/-]{36,}/IncomingWebhook/[0-9a-zA-Z/-]{32,})",
    ),
    _token("sendgrid-key", r"(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,})"),
    _token(
        "mailgun-key",
        r"(key-[0-9a-f]{32})\b|(?i:mailgun[\w.\"' -]*[:=(,][ \t]*[\"']?)([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b",
    ),
    _token("mailchimp-key", r"([0-9a-f]{32}-us[0-9]{1,2})\b"),
    _token("brevo-key", r"(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b"),
    _token(
        "twilio-key",
        r"(SK[0-9a-f]{32})\b|(?i:twilio[\w.\"' -]{0,30}[:=(,][ \t]*[\"']?)([0-9a-f]{32})\b",
    ),
    # Shops and payments
    _token(
        "stripe-key",
        r"((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        is_mixed,
    ),
    _token("shopify-token", r"(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b"),
    _token("square-token", r"(EAAA[A-Za-z0-9_-]{60}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,})", is_mixed),
    _token("facebook-token", r"(EAA[A-Z][A-Za-z0-9]{80,})\b", is_mixed),
    _token("dropbox-token", r"(sl\.(?:u\.)?[A-Za-z0-9_-]{120,})"),
    # Watching
    SecretRule(
        "datadog-key",
        r"(?i:(?:datadog|dd)_?-?(?:api|app|application|client)?_?-?(?:key|token)[\"']?[ \t]*[:=][ \t]*[\"']?)"
        r"((?:pub)?[0-9a-f]{32}(?:[0-9a-f]{8})?)\b",
    ),
    _token(
        "new-relic-key",
        r"(NR(?:AK|II|IQ|RA|SP)-[A-Za-z0-9_-]{25,}|[0-9a-f]{36}(?:NRAL|FFFFNRAL))\b",
    ),
    _token("grafana-token", r"(gl(?:c|sa)_[A-Za-z0-9+/=_]{32,})"),
    _token("sentry-token", r"(sntry[us]_[A-Za-z0-9+/=_]{40,})"),
    _token("posthog-key", r"(ph[xs]_[A-Za-z0-9]{40,})\b"),
    SecretRule(
        "okta-token", r"(?i:okta[\w.\"' -]{0,30}[:=][ \t]*[\"']?|SSWS[ \t]+)(00[A-Za-z0-9_-]{40})\b"
    ),
    # Forms that many services share
    _token("age-key", r"(AGE-SECRET-KEY-1[0-9A-Z]{58})\b"),
    # A private key in base64, as in Kubernetes' configurations.
    SecretRule(
        "encoded-private-key",
        _START
        + r"(LS0tLS1CRUdJTi(?:BSU0Eg|BFQyB|BPUEVOU1NI|BFTkNS|BEU0Eg|BQUklW)[A-Za-z0-9+/]{40,}={0,2})|"
        r"client-key-data[\"']?[ \t]*:[ \t]*[\"']?([A-Za-z0-9+/]{40,}={0,2})",
    ),
    _token("jwt", r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    SecretRule(
        "authorization",
        r"(?i:\b(?:bearer|basic|token|ssws)[ \t]+)([A-Za-z0-9._~+/-]{20,}={0,2})",
        is_random,
    ),
    SecretRule(
        "url-password",
        r"[A-Za-z][A-Za-z0-9+.-]+://[^\s/:@\"'<>`]*:([^\s/@\"'<>`]{6,})@[\w.\[$%{-]|"
        r"://([A-Za-z0-9_-]{20,})(?::[^\s/@\"'<>`]*)?@[\w\[]",
        is_login,
        guessable=True,
    ),
    SecretRule(
        "connection-password",
        r"(?i:;[ \t]*(?:password|pwd)[ \t]*=[ \t]*)([^;\"'\s]{6,})",
        is_password,
        guessable=True,
    ),
    # The password in the configuration of Redis, LDAP, mail and PostgreSQL.
    SecretRule(
        "service-password",
        r"\b(?:requirepass|masterauth|bindpw|rootpw)[ \t]+[\"']?([^\s\"']{6,})|"
        r"\b[\w.+-]+@[\w-]+\.[\w.-]+:([^\s/\"'@:]{8,})(?:\s|$)|"
        r"(?m:^)[\w.*-]+:(?:[0-9]+|\*):[\w.*-]+:[\w.*-]+:([^\s/:]{6,})(?m:$)",
        is_unquoted_password,
        guessable=True,
    ),
    # A Google app password in its four groups of letters.
    SecretRule(
        "app-password",
        r"(?i:"
        + _KEYWORD
        + r"[\w.-]*[\"'\])\\]{0,4}[ \t]*[:=][ \t]*[\"']?)([a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})\b",
        guessable=True,
    ),
    # The secret that a JSON web token or an HMAC is made with.
    SecretRule(
        "signing-secret",
        r"(?i:\bjwt\.(?:sign|verify|encode|decode)\(|createHmac\(|\bhmac\.new\()[^\n\"'`]*(?:\"sha[0-9]+\"|'sha[0-9]+')?[^\n\"'`]*[\"'`]"
        r"([^\s\"'`]{8,})[\"'`]",
        is_password,
        guessable=True,
    ),
    SecretRule(
        "netrc-password",
        r"\bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+password[ \t]+(\S{6,})",
        is_password,
        guessable=True,
    ),
    # A secret that stands as value beside or below its name, as in Kubernetes and Terraform.
    SecretRule(
        "listed-secret",
        r"(?i:\b(?:name|key)[\"']?[ \t]*[:=][ \t]*[\"']?[\w.-]*"
        + _KEYWORD
        + r"[\w.-]*[\"']?,?[ \t]*(?:\r?\n)?"
        r"[ \t]*[\"']?value[\"']?[ \t]*[:=][ \t]*[\"']?)([^\s\"']{8,})|"
        r"(?i:\bvariable[ \t]+\"[\w-]*"
        + _KEYWORD
        + r"[\w-]*\"[ \t]*\{[ \t]*\r?\n(?:[^\n}]*\n)*?[ \t]*default[ \t]*=[ \t]*)"
        r"\"([^\s\"]{8,})\"",
        is_password,
        guessable=True,
    ),
    # A password in the options of curl, mysql, ldapsearch and the like.
    SecretRule(
        "login-option",
        r"[ \t](?:-u|--user)[ \t=]+[\"']?(?:[\w.@-]+:([^\s\"'@]{6,})|([A-Za-z0-9_-]{20,}):)|"
        r"\bmysql\w*[ \t][^\n]*[ \t]-p([^\s\"'-][^\s\"']{5,})|"
        r"\b(?:sshpass|htpasswd|ldap\w+|docker|twine|mongo\w*|redis-cli)[ \t][^\n]*-(?:p|w|a|bc?[ \t]+\S+[ \t]+\S+)"
        r"[ \t]+[\"']?([^\s\"'-][^\s\"']{5,})",
        is_password,
        guessable=True,
    ),
    SecretRule(
        "xml-secret",
        r"(?i:[<\"'][\w.:-]*"
        + _KEYWORD
        + r"[\w.:-]*(?:[\"'][^<>\n]*)?>[ \t]*)([^<>\s]{8,})[ \t]*</",
        is_password,
        guessable=True,
    ),
    # A password behind a user's name, in a call that logs in or connects.
    SecretRule(
        "login-secret",
        r"(?i:auth|login|connect|connection|credentials?|pdo|account|user)[\w.]*[ \t]*[=(:][^\n]*"
        r"[\"'][\w.@-]*[\"'][ \t]*,[ \t]*(?:\"([^\"\s]{8,})\"|'([^'\s]{8,})')[ \t]*[),\]]",
        is_scrambled_password,
        guessable=True,
    ),
    SecretRule(
        "option-secret",
        r"(?i:[ \t\"']--?[\w-]*" + _KEYWORD + r")[ \t]+[\"']?([^\s\"'<>$(){}-][^\s\"'<>$(){}]{7,})",
        is_unquoted_password,
        guessable=True,
    ),
    # A random value that is assigned to a name such as password, secret, token or api_key.
    SecretRule(
        "secret",
        "(?i:"
        + _KEYWORD
        + r"[\w.-]*[\"'\])\\]{0,4}[ \t]*)(?:"
        + _ASSIGNED
        + "|"
        + _BESIDE
        + "|"
        + _SAID
        + ")"
        + _QUOTED,
        is_password,
        guessable=True,
    ),
    # The same in a line that is nothing but a variable and its value, whatever signs the value has.
    SecretRule(
        "env-secret",
        r"(?m:^)[ \t]*(?:-[ \t]+)?(?:(?:export|ENV|ARG|set)[ \t]+)?(?i:\w*"
        + _KEYWORD
        + r"\w*)=([^\s\"'`<>$(){}]{8,})\r?(?m:$)",
        is_unquoted_password,
        guessable=True,
    ),
    # The same without quotes, as in .env, YAML and properties.
    SecretRule(
        "bare-secret",
        "(?i:" + _KEYWORD + r"[\w.-]*[\"'\])\\]{0,4}[ \t]*)" + _ASSIGNED + _BARE + "|"
        r"(?i:\b(?:env|set -x)[ \t]+\w*" + _KEYWORD + r"\w*[ \t]+)" + _BARE,
        is_unquoted_password,
        guessable=True,
    ),
)

PRIVATE_KEY = "private-key"
"""The id of what ``key_blocks`` finds, the one secret that has many lines."""
