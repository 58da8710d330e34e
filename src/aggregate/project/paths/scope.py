"""What a project may read, and the options that permit more."""

from dataclasses import dataclass

# The options of the command line that permit it.
ALLOW_OUTSIDE, ALLOW_SECRETS = "--allow-outside", "--allow-secrets"


@dataclass(frozen=True, slots=True)
class Scope:
    root: str = ""  # the real path that a file which the project asks for must lie below
    allow_outside: bool = True
    allow_secrets: bool = True  # what looks like a secret and is named; a glob never takes it
    is_fixed: bool = False  # whoever asks cannot permit more, so that nothing tells how
