"""A project's reading permissions, and names of files with secrets.

Secret names are those of keys, passwords, tokens and shell histories, not of source code (``secrets.py``,
``credentials.go``), examples and public keys.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

ALLOW_OUTSIDE, ALLOW_SECRETS = "--allow-outside", "--allow-secrets"


@dataclass(frozen=True, slots=True)
class Scope:
    root: str = ""  # real path of the project's files
    allow_outside: bool = True
    allow_secrets: bool = True  # only named files; globs never match secrets
    is_fixed: bool = False  # the caller cannot extend it, so messages do not say how


# Folders whose whole content is secret.
FOLDERS: Final = frozenset({".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
# Ends of paths of secret files and folders.
PLACES: Final = (
    ".docker/config.json", ".config/gcloud", ".config/gh/hosts.yml", ".cargo/credentials.toml", ".gem/credentials",
    ".m2/settings.xml", ".m2/settings-security.xml",
)  # fmt: skip
NAMES: Final = frozenset((
    ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".dockercfg",
    ".dockerconfigjson", ".vault-token", ".aws_credentials", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto",
    ".terraformrc", ".databrickscfg", ".smbcredentials", ".msmtprc", ".histfile", ".lesshst", ".viminfo", "kubeconfig",
    "credentials", ".credentials", "credentials.json", "application_default_credentials.json", "secrets.toml",
    "secrets.yaml", "secrets.yml", "secrets.json",
))  # fmt: skip
BEGINNINGS: Final = (".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
ENDS: Final = (
    ".env", ".pem", ".key", ".ppk", ".p8", ".p12", ".pfx", ".keystore", ".jks", ".kdbx", ".keytab", ".kubeconfig",
    ".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", "_history", "_credentials", "-credentials.json",
    "_credentials.json",
)  # fmt: skip
_ENDS_OF_PLACES: Final = tuple(f"/{end}" for end in PLACES)
_KEYS: Final = re.compile(
    r"client_secret.*\.json|service[-_]?account.*\.json|.*-firebase-adminsdk-.*\.json", re.DOTALL
)
_PUBLIC: Final = re.compile(
    r"(\.env\.|.*\.)?(example|sample|template|dist)\.env|\.env\.(.*\.)?(example|sample|template|dist)|.*\.pub"
    r"|(?!.*priv)(.*[._-])?pub(lic)?([._-].*)?\.(pem|key)|\.env\.[cm]?[jt]s|\.env\.d\.ts|cacert\.pem",
    re.DOTALL,
)


def is_secret(path: str) -> bool:
    """Return whether a path looks like a file with secrets, by its name or folder."""
    folder, _, name = path.lower().rpartition("/")
    is_name = name in NAMES or name.startswith(BEGINNINGS) or name.endswith(ENDS)
    is_name = is_name or (name.endswith(".json") and _KEYS.fullmatch(name) is not None)
    if is_name and not _PUBLIC.fullmatch(name):
        return True
    if "." not in folder:  # quick: all secret folders and paths have a dot
        return False
    return _is_secret_folder(folder) or f"/{folder}/{name}".endswith(_ENDS_OF_PLACES)


@lru_cache(maxsize=4096)
def _is_secret_folder(folder: str) -> bool:
    path = f"/{folder}/"
    return not FOLDERS.isdisjoint(folder.split("/")) or any(f"/{end}/" in path for end in PLACES)
