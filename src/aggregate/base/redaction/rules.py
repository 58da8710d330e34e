"""The table of what counts as a secret.

Every pattern runs in RE2, in time that grows with the text's length alone, whatever a hostile file holds. No secret
crosses a line's end. The secret is the group that matched, or the whole match where there is no group. Examples are
kept in pieces, so that neither these rules nor any other scanner take this file for a leak.
"""

from collections.abc import Callable
from dataclasses import dataclass

from aggregate.base.redaction.plausibility import (
    is_login,
    is_mixed,
    is_password,
    is_random,
    is_scrambled_password,
    is_unquoted_password,
)


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One kind of secret.

    Attributes:
        id: Stands in the placeholder, ``[REDACTED:id]``.
        pattern: RE2 syntax; at most one of its groups takes part in a match.
        example: A made-up line that it finds, in pieces to be joined.
        accepts: Tells whether a matched value is likely a secret, with the 1-based number of its group.
        guessable: Whether values may be short enough to be found from their hash by trying.
    """

    id: str
    pattern: str
    example: tuple[str, ...]
    accepts: Callable[[str, int], bool] | None = None
    guessable: bool = False


# Made-up values, cut to the length that a rule's example needs.
_B64 = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6A7b8C9d0E1f2G3h4I5j6K7l8M9n0O1p2Q3r4S5t6U7v8W9x0"
_HEX = "3f9a1c7e5b2d8f604a6c9e1b7d3f5082c4e6a8091b3d5f7e9a2c4e6f8b0d1a3c"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_START = r"(?:\b|_)"
"""Where a token may begin: names such as ``backup_ghp_…`` put it behind an underscore, which is no word's end."""
_KEYWORD = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|(?:\b|_)(?:pass|pw|psk|pepper)\b|(?-i:[a-z](?:Pass|Pw))\b|secret|token|credential|"
    r"identified[ \t]+by|"
    r"(?:api|access|private|auth|encryption|encrypt|signing|signature|master|account|shared|service|app|license|"
    r"webhook|session|cookie|hmac|jwt|admin|storage|root|deploy|fernet)[ _.-]?key)"
)
"""What names of secrets hold; a key alone is none, ``sort_key`` and ``key=`` are everywhere."""
_ASSIGNED = r"(?::[ \t]*[A-Za-z_&][\w.<>\[\]|&' ]*=|[ \t][\w.*&\[\]]+[ \t]*=|:=|=>|==?|:)[ \t]*(?:\[\]byte\()?"
"""Between a name and its value: an assignment, also with a type as in Go, Rust and TypeScript, or a mapping's colon."""
_BESIDE = r"(?:,|\(|\|\|?|\?\?|\bor\b)[ \t]*"
"""Between a name and a default beside it: ``getenv("TOKEN", "...")``, ``token || "..."``."""
_SAID = r"(?:[ \t]+(?:is|was|to|as)?:?[ \t]*)"
"""Between a name and its value in prose and SQL: ``password is``, ``identified by``."""
_QUOTED = (
    r"""(?:[a-zA-Z]{1,2})?(?:"([^"\s]{8,})"|'([^'\s]{8,})'|`([^`\s]{8,})`|\\"([^"\s\\]{8,})\\")"""
)
"""A value in quotes. From eight characters on: shorter ones are mostly words and numbers."""
_BARE = r"""([^\s"'`<>(){}\[\],;&|\\]{8,})(?:[\s,;&"'`)\]}\\]|$)"""
"""A value without quotes, as long, up to what ends a value in some language."""


def _token(
    rule: str,
    pattern: str,
    example: tuple[str, ...],
    accepts: Callable[[str, int], bool] | None = None,
) -> SecretRule:
    """Return the rule for a token that is known by how it begins."""
    return SecretRule(rule, _START + pattern, example, accepts)


RULES: tuple[SecretRule, ...] = (
    # Clouds
    _token(
        "aws-access-key",
        r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        ("AKIA", "QX4BN7TZLM2WRD5K"),
        lambda value, _: not value.endswith("EXAMPLE"),
    ),
    # An AWS secret access key beside its name, or behind the key's id, as in the console's CSV.
    SecretRule(
        "aws-secret-key",
        r"(?:(?i:aws[\w.-]*(?:secret|private)|secret_?-?access_?-?key|aws_?sk)[^\n]{0,30}?[\"'\s=:>,]|"
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\"']?[ \t]*[,;\t][ \t]*[\"']?)([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        ("aws_secret_access_key = ", "wQ8rZk3TnB5yLd7Vx/", "uP2mHs6Fj9+GcE4aRtN1oK"),
        is_mixed,
    ),
    # An AWS session token beside its name.
    SecretRule(
        "aws-session-token",
        r"(?i:session_?-?token)[\"'\]]{0,2}[ \t]*[:=][ \t]*[\"']?([A-Za-z0-9/+=]{100,})",
        ("aws_session_token=", "FwoGZXIvYXdzE", _B64),
    ),
    _token("aws-bedrock-key", r"(ABSK[A-Za-z0-9+/]{80,}={0,2})", ("ABSK", _B64)),
    _token(
        "google-api-key",
        r"(AIza[A-Za-z0-9_-]{35})",
        ("AIza", "SyB4k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0a"),
    ),
    # The secret of a Google OAuth client, or a token of one.
    _token(
        "google-oauth-secret",
        r"(GOCSPX-[A-Za-z0-9_-]{24,}|ya29\.[A-Za-z0-9_-]{30,}|1//0[A-Za-z0-9_-]{40,})",
        ("GOCSPX", "-k9XqT2mVw7RzN1pLd8HsJ3uFc6Ge"),
    ),
    # A key in an Azure connection string.
    SecretRule(
        "azure-key",
        r"(?i:accountkey|sharedaccesskey|sharedsecret|accesskey)=([A-Za-z0-9+/]{40,}={0,2})",
        ("AccountName=shop;AccountKey", "=", _B64[:86], "=="),
        is_mixed,
    ),
    # The signature of an Azure shared access link.
    SecretRule(
        "azure-sas",
        r"[?&;]sig=([A-Za-z0-9%/+]{40,}={0,2})",
        ("https://shop.blob.core.windows.net/a?sv=2023-01-03&sig", "=", _B64[:43], "%3D"),
        is_mixed,
    ),
    # The secret of an Azure application.
    _token(
        "azure-client-secret",
        r"([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})",
        ("aB3", "8Q~", "k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5"),
    ),
    # A token of Azure DevOps by its mark, or beside its name.
    _token(
        "azure-devops-token",
        r"([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b|"
        r"(?i:(?:azure|devops|azdo|ado|vsts)[\w.-]*(?:pat|token)[\"']?[ \t]*[:=][ \t]*[\"']?)"
        r"([a-z0-9]{52}|[A-Za-z0-9]{84})\b",
        (_B64[:76], "AZ", "DO", _B64[:4]),
        is_random,
    ),
    _token("digitalocean-token", r"(do[opr]_v1_[a-f0-9]{64})", ("dop_", "v1_", _HEX)),
    SecretRule(
        "heroku-key",
        _START
        + r"(HRKU-[A-Za-z0-9_-]{30,})|(?i:heroku[\w.\"'-]{0,30}[ \t]*[:=][ \t]*[\"']?)("
        + _UUID
        + ")",
        ("HEROKU_API_KEY=", "4f8a2c6e-1b3d-4e5f-9a7b-", "0c2d4e6f8a1b"),
    ),
    _token(
        "alibaba-access-key",
        r"(LTAI[A-Za-z0-9]{17,21})\b",
        ("LTAI", "5tK9XqT2mVw7RzN1pLd8"),
        is_mixed,
    ),
    SecretRule(
        "cloudflare-key",
        _START + r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})|"
        r"(?i:(?:cloudflare|cf)_[\w.-]*(?:key|token)[\"']?[ \t]*[:=][ \t]*[\"']?)([A-Za-z0-9_-]{37,40})\b",
        ("CLOUDFLARE_API_TOKEN=", "k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5Zt4Qr2"),
        is_random,
    ),
    _token(
        "vault-token",
        r"(hv[sbr]\.[A-Za-z0-9_-]{24,})",
        ("hvs", ".CAESIk9XqT2mVw7RzN1pLd8HsJ3u"),
    ),
    _token(
        "terraform-token",
        r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})",
        (_B64[:14], ".atlas", "v1.", _B64[:67]),
    ),
    _token("pulumi-token", r"(pul-[0-9a-f]{40})\b", ("pul", "-", _HEX[:40])),
    _token(
        "doppler-token",
        r"(dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,})",
        ("dp", ".pt.", _B64[:43]),
    ),
    _token(
        "planetscale-token",
        r"(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,})",
        ("pscale_", "pw_", _B64[:43]),
    ),
    _token(
        "supabase-key",
        r"(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
        ("sbp", "_", _HEX[:40]),
    ),
    _token("pinecone-key", r"(pcsk_[A-Za-z0-9_]{40,})", ("pcsk", "_5Xk2T_", _B64[:63])),
    _token(
        "fly-token",
        r"(fm[12][ar]?_[A-Za-z0-9+/=,_-]{40,}|fo1_[A-Za-z0-9_-]{43})",
        ("FlyV1 ", "fm2_", _B64, "=="),
    ),
    _token("databricks-token", r"(dapi[0-9a-f]{32}(?:-[0-9])?)\b", ("dapi", _HEX[:32])),
    # Code and packages
    _token(
        "github-token",
        r"(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
        ("ghp", "_", _B64[:36]),
    ),
    _token(
        "gitlab-token",
        r"(gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.=-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
        ("glpat", "-", "k9XqT2mVw7RzN1pLd8Hs"),
    ),
    _token(
        "npm-token",
        r"(npm_[A-Za-z0-9]{36,})|_auth(?:Token)?[ \t]*=[ \t]*\"?([A-Za-z0-9_+/=.-]{16,})",
        ("npm", "_", _B64[:36]),
        is_mixed,
    ),
    _token("pypi-token", r"(pypi-[A-Za-z0-9_-]{50,})", ("pypi", "-AgEIcHlwaS5vcmc", _B64)),
    _token("rubygems-key", r"(rubygems_[0-9a-f]{48})\b", ("rubygems", "_", _HEX[:48])),
    _token("crates-token", r"(cio[A-Za-z0-9]{32})\b", ("cio", _B64[:32]), is_random),
    _token(
        "nuget-key",
        r"(oy2[a-z0-9]{43})\b",
        ("oy2", "k9xqt2mvw7rzn1pld8hsj3ufc6gey0awb5zt4qr2m7d"),
    ),
    # A Docker token, or the login in a Docker configuration.
    _token(
        "docker-token",
        r"(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})|\"auth\"[ \t]*:[ \t]*\"([A-Za-z0-9+/]{16,}={0,2})\"",
        ("dckr_", "pat_", "k9XqT2mVw7RzN1pLd8HsJ3uFc6G"),
    ),
    _token(
        "artifactory-key",
        r"(AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})",
        ("AKCp", _B64[:69]),
    ),
    # An Atlassian or Bitbucket token.
    _token(
        "atlassian-token",
        r"(AT[AC]TT3[A-Za-z0-9_=-]{50,}|ATBB[A-Za-z0-9]{24,})",
        ("ATATT3", "xFfGF0", _B64, "=3F9A1C7E"),
    ),
    _token("linear-key", r"(lin_(?:api|oauth)_[A-Za-z0-9]{32,})", ("lin_", "api_", _B64[:40])),
    _token(
        "notion-token",
        r"(ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b",
        ("ntn", "_", _B64[:46]),
        is_mixed,
    ),
    _token("figma-token", r"(figd_[A-Za-z0-9_-]{36,})", ("figd", "_", _B64[:40])),
    _token(
        "airtable-token",
        r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b",
        ("pat", _B64[:14], ".", _HEX),
    ),
    _token(
        "postman-key",
        r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b",
        ("PMAK", "-", _HEX[:24], "-", _HEX[:34]),
    ),
    # Models
    _token(
        "anthropic-key",
        r"(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,})",
        ("sk-", "ant-", "api03-", _B64[:93], "AA"),
    ),
    # A key of OpenAI, or of a service that writes them likewise.
    _token(
        "openai-key",
        r"(sk-(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})",
        ("sk-", "proj-", _B64[:48]),
        is_mixed,
    ),
    _token(
        "huggingface-token",
        r"((?:hf_|api_org_)[A-Za-z0-9]{30,})",
        ("hf", "_", _B64[:34]),
        is_mixed,
    ),
    # A key of Groq, xAI, Perplexity, Replicate, NVIDIA or Fireworks.
    _token(
        "model-key",
        r"((?:gsk_|xai-|pplx-|r8_|nvapi-|fw_)[A-Za-z0-9_-]{24,})",
        ("gsk", "_", _B64[:52]),
        is_random,
    ),
    _token(
        "langsmith-key",
        r"(lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,})",
        ("lsv2_", "pt_", _HEX[:32], "_", _HEX[:10]),
    ),
    # Messages and mail
    _token(
        "slack-token",
        r"(xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{20,})",
        ("xoxb", "-2847561039", "-2847561040-", _B64[:24]),
    ),
    # The address of a Slack webhook.
    SecretRule(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})",
        ("https://hooks.slack", ".com/services/T02AB4CD6", "/B08EF1GH3/", _B64[:24]),
    ),
    # A Discord bot's token, or the address of a webhook.
    SecretRule(
        "discord-token",
        _START + r"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})|"
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,}/[A-Za-z0-9_-]{40,})",
        ("MTE4k9XqT2mVw7RzN1pLd8Hs", ".Gx7k2P.", "k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5Zt4Q"),
        is_mixed,
    ),
    SecretRule(
        "telegram-token",
        r"(?:\b|\bbot)([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})\b",
        ("5948371620", ":AA", "Gk9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aW"),
    ),
    SecretRule(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/([0-9a-fA-F@/-]{36,}/IncomingWebhook/[0-9a-zA-Z/-]{32,})",
        (
            "https://acme.webhook.office",
            ".com/webhookb2/4f8a2c6e-1b3d-4e5f-9a7b-0c2d4e6f8a1b",
            "/IncomingWebhook/",
            _HEX,
        ),
    ),
    _token(
        "sendgrid-key",
        r"(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,})",
        ("SG", ".k9XqT2mVw7RzN1pLd8HsJ3.", _B64[:43]),
    ),
    _token(
        "mailgun-key",
        r"(key-[0-9a-f]{32})\b|(?i:mailgun[\w.\"' -]*[:=(,][ \t]*[\"']?)([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b",
        ("key", "-", _HEX[:32]),
    ),
    _token("mailchimp-key", r"([0-9a-f]{32}-us[0-9]{1,2})\b", (_HEX[:32], "-us", "14")),
    _token(
        "brevo-key",
        r"(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b",
        ("xkeysib", "-", _HEX, "-", _B64[:16]),
    ),
    _token(
        "twilio-key",
        r"(SK[0-9a-f]{32})\b|(?i:twilio[\w.\"' -]{0,30}[:=(,][ \t]*[\"']?)([0-9a-f]{32})\b",
        ("SK", _HEX[:32]),
    ),
    # Shops and payments
    # A secret key of Stripe, or of a webhook.
    _token(
        "stripe-key",
        r"((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        ("sk_", "live_", "51", _B64[:40]),
        is_mixed,
    ),
    _token("shopify-token", r"(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b", ("shpat", "_", _HEX[:32])),
    _token(
        "square-token",
        r"(EAAA[A-Za-z0-9_-]{60}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,})",
        ("sq0", "csp-", _B64[:43]),
        is_mixed,
    ),
    _token("facebook-token", r"(EAA[A-Z][A-Za-z0-9]{80,})\b", ("EAAC", _B64[:98]), is_mixed),
    _token("dropbox-token", r"(sl\.(?:u\.)?[A-Za-z0-9_-]{120,})", ("sl", ".", _B64, _B64[:36])),
    # Watching
    # A Datadog key beside its name.
    SecretRule(
        "datadog-key",
        r"(?i:(?:datadog|dd)_?-?(?:api|app|application|client)?_?-?(?:key|token)[\"']?[ \t]*[:=][ \t]*[\"']?)"
        r"((?:pub)?[0-9a-f]{32}(?:[0-9a-f]{8})?)\b",
        ("DD_API_KEY=", _HEX[:32]),
    ),
    _token(
        "new-relic-key",
        r"(NR(?:AK|II|IQ|RA|SP)-[A-Za-z0-9_-]{25,}|[0-9a-f]{36}(?:NRAL|FFFFNRAL))\b",
        ("NRAK", "-", "K9XQT2MVW7RZN1PLD8HSJ3UFC6G"),
    ),
    _token(
        "grafana-token",
        r"(gl(?:c|sa)_[A-Za-z0-9+/=_]{32,})",
        ("glsa", "_", _B64[:32], "_3f9a1c7e"),
    ),
    _token("sentry-token", r"(sntry[us]_[A-Za-z0-9+/=_]{40,})", ("sntryu", "_", _HEX)),
    # A PostHog personal key.
    _token("posthog-key", r"(ph[xs]_[A-Za-z0-9]{40,})\b", ("phx", "_", _B64[:43])),
    SecretRule(
        "okta-token",
        r"(?i:okta[\w.\"' -]{0,30}[:=][ \t]*[\"']?|SSWS[ \t]+)(00[A-Za-z0-9_-]{40})\b",
        ("OKTA_API_TOKEN=", "00", _B64[:40]),
    ),
    # Forms that many services share
    # A secret key of age.
    _token(
        "age-key",
        r"(AGE-SECRET-KEY-1[0-9A-Z]{58})\b",
        ("AGE-SECRET", "-KEY-1", "QX4BN7TZLM2WRD5KQX4BN7TZLM2WRD5KQX4BN7TZLM2WRD5KQX4BN7TZLM"),
    ),
    # A private key in base64, as in Kubernetes' configurations.
    SecretRule(
        "encoded-private-key",
        _START
        + r"(LS0tLS1CRUdJTi(?:BSU0Eg|BFQyB|BPUEVOU1NI|BFTkNS|BEU0Eg|BQUklW)[A-Za-z0-9+/]{40,}={0,2})|"
        r"client-key-data[\"']?[ \t]*:[ \t]*[\"']?([A-Za-z0-9+/]{40,}={0,2})",
        ("LS0tLS1CRUdJ", "TiBSU0EgUFJJVkFURSBLRVkt", _B64),
    ),
    _token(
        "jwt",
        r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
        (
            "eyJhbGciOiJIUzI1NiJ9",
            ".eyJzdWIiOiI4NDcxIn0",
            ".k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aWb5Zt4Qr2M7d",
        ),
    ),
    # The credentials in an Authorization header.
    SecretRule(
        "authorization",
        r"(?i:\b(?:bearer|basic|token|ssws)[ \t]+)([A-Za-z0-9._~+/-]{20,}={0,2})",
        ("Authorization: Bearer ", "k9XqT2mVw7RzN1pLd8HsJ3uFc6GeY0aW"),
        is_random,
    ),
    # The password in a URL.
    SecretRule(
        "url-password",
        r"[A-Za-z][A-Za-z0-9+.-]+://[^\s/:@\"'<>`]*:([^\s/@\"'<>`]{6,})@[\w.\[$%{-]|"
        r"://([A-Za-z0-9_-]{20,})(?::[^\s/@\"'<>`]*)?@[\w\[]",
        ("postgresql://shop:", "vT7rKq2Lw9", "@db.internal:5432/shop"),
        is_login,
        guessable=True,
    ),
    # The password in a connection string.
    SecretRule(
        "connection-password",
        r"(?i:;[ \t]*(?:password|pwd)[ \t]*=[ \t]*)([^;\"'\s]{6,})",
        ("Server=db;Database=shop;User Id=app;Password=", "vT7rKq2Lw9", ";"),
        is_password,
        guessable=True,
    ),
    # The password in the configuration of Redis, LDAP, mail and PostgreSQL.
    SecretRule(
        "service-password",
        r"\b(?:requirepass|masterauth|bindpw|rootpw)[ \t]+[\"']?([^\s\"']{6,})|"
        r"\b[\w.+-]+@[\w-]+\.[\w.-]+:([^\s/\"'@:]{8,})(?:\s|$)|"
        r"(?m:^)[\w.*-]+:(?:[0-9]+|\*):[\w.*-]+:[\w.*-]+:([^\s/:]{6,})(?m:$)",
        ("requirepass ", "vT7rKq2Lw9xB"),
        is_unquoted_password,
        guessable=True,
    ),
    # A Google app password in its four groups of letters.
    SecretRule(
        "app-password",
        r"(?i:"
        + _KEYWORD
        + r"[\w.-]*[\"'\])\\]{0,4}[ \t]*[:=][ \t]*[\"']?)([a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})\b",
        ("password: ", "mcdr zwjx nrop qnvt"),
        guessable=True,
    ),
    # The secret that a JSON web token or an HMAC is made with.
    SecretRule(
        "signing-secret",
        r"(?i:\bjwt\.(?:sign|verify|encode|decode)\(|createHmac\(|\bhmac\.new\()[^\n\"'`]*(?:\"sha[0-9]+\"|'sha[0-9]+')?[^\n\"'`]*[\"'`]"
        r"([^\s\"'`]{8,})[\"'`]",
        ("jwt.sign(payload, ", "'vT7rKq2Lw9xB4cN8'", ")"),
        is_password,
        guessable=True,
    ),
    # The password in a netrc line.
    SecretRule(
        "netrc-password",
        r"\bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+password[ \t]+(\S{6,})",
        ("machine api.internal login deploy password ", "vT7rKq2Lw9"),
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
        ("- name: DB_PASSWORD\n  value: ", "vT7rKq2Lw9xB"),
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
        ("curl -u deploy:", "vT7rKq2Lw9xB", " https://api.internal"),
        is_password,
        guessable=True,
    ),
    # A secret in an XML element.
    SecretRule(
        "xml-secret",
        r"(?i:[<\"'][\w.:-]*"
        + _KEYWORD
        + r"[\w.:-]*(?:[\"'][^<>\n]*)?>[ \t]*)([^<>\s]{8,})[ \t]*</",
        ("<apiSecret>", "vT7rKq2Lw9xB", "</apiSecret>"),
        is_password,
        guessable=True,
    ),
    # A password behind a user's name, in a call that logs in or connects.
    SecretRule(
        "login-secret",
        r"(?i:auth|login|connect|connection|credentials?|pdo|account|user)[\w.]*[ \t]*[=(:][^\n]*"
        r"[\"'][\w.@-]*[\"'][ \t]*,[ \t]*(?:\"([^\"\s]{8,})\"|'([^'\s]{8,})')[ \t]*[),\]]",
        ("requests.get(url, auth=('deploy', ", "'vT7rKq2Lw9xB'", "))"),
        is_scrambled_password,
        guessable=True,
    ),
    # A secret given as a program's option.
    SecretRule(
        "option-secret",
        r"(?i:[ \t\"']--?[\w-]*" + _KEYWORD + r")[ \t]+[\"']?([^\s\"'<>$(){}-][^\s\"'<>$(){}]{7,})",
        ("mysqldump --password ", "vT7rKq2Lw9xB", " shop"),
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
        ("password = ", '"vT7rKq2Lw9xB"'),
        is_password,
        guessable=True,
    ),
    # The same in a line that is nothing but a variable and its value, whatever signs the value has.
    SecretRule(
        "env-secret",
        r"(?m:^)[ \t]*(?:-[ \t]+)?(?:(?:export|ENV|ARG|set)[ \t]+)?(?i:\w*"
        + _KEYWORD
        + r"\w*)=([^\s\"'`<>$(){}]{8,})\r?(?m:$)",
        ("      - POSTGRES_PASSWORD=", "vT7r&Kq2;Lw9"),
        is_unquoted_password,
        guessable=True,
    ),
    # The same without quotes, as in .env, YAML and properties.
    SecretRule(
        "bare-secret",
        "(?i:" + _KEYWORD + r"[\w.-]*[\"'\])\\]{0,4}[ \t]*)" + _ASSIGNED + _BARE + "|"
        r"(?i:\b(?:env|set -x)[ \t]+\w*" + _KEYWORD + r"\w*[ \t]+)" + _BARE,
        ("db_password: ", "vT7rKq2Lw9xB"),
        is_unquoted_password,
        guessable=True,
    ),
)
"""All rules, the specific ones before the general ones: of two that overlap the earlier one counts."""

PRIVATE_KEY = "private-key"
"""The id of what ``private_keys`` finds, the one secret that has many lines."""
