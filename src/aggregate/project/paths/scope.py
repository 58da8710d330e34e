"""What a project may read, and the options that permit more; which files look like secrets, by their names alone.

The rule of names is for what nobody means to show: keys, passwords, tokens, histories of shells. Source code is never
meant by it (``secrets.py``, ``credentials.go``), nor are examples and public keys.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# The options of the command line that permit it.
ALLOW_OUTSIDE, ALLOW_SECRETS = "--allow-outside", "--allow-secrets"


@dataclass(frozen=True, slots=True)
class Scope:
    root: str = ""  # the real path that a file which the project asks for must lie below
    allow_outside: bool = True
    allow_secrets: bool = True  # what looks like a secret and is named; a glob never takes it
    is_fixed: bool = False  # whoever asks cannot permit more, so that nothing tells how


# Everything below a folder of this name is secret.
FOLDERS: Final = frozenset({".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
# Files and folders that are secret at this place.
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
_ENDS_OF_PLACES: Final = tuple(f"/{place}" for place in PLACES)
_KEYS: Final = re.compile(
    r"client_secret.*\.json|service[-_]?account.*\.json|.*-firebase-adminsdk-.*\.json", re.DOTALL
)
_PUBLIC: Final = re.compile(
    r"(\.env\.|.*\.)?(example|sample|template|dist)\.env|\.env\.(.*\.)?(example|sample|template|dist)|.*\.pub"
    r"|(?!.*priv)(.*[._-])?pub(lic)?([._-].*)?\.(pem|key)|\.env\.[cm]?[jt]s|\.env\.d\.ts|cacert\.pem",
    re.DOTALL,
)


def is_secret(path: str) -> bool:
    """Tell whether a file by its name, or a folder on its way, holds secrets; the case of letters does not matter."""
    folder, _, name = path.lower().rpartition("/")
    is_name = name in NAMES or name.startswith(BEGINNINGS) or name.endswith(ENDS)
    is_name = is_name or (name.endswith(".json") and _KEYS.fullmatch(name) is not None)
    if is_name and not _PUBLIC.fullmatch(name):
        return True
    if "." not in folder:  # quick: all names of folders and all places have one
        return False
    return _is_secret_folder(folder) or f"/{folder}/{name}".endswith(_ENDS_OF_PLACES)


@lru_cache(maxsize=4096)
def _is_secret_folder(folder: str) -> bool:
    around = f"/{folder}/"
    return not FOLDERS.isdisjoint(folder.split("/")) or any(
        f"/{place}/" in around for place in PLACES
    )
