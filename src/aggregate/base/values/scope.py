"""What a prompt may take: the files of the project, and what the user allowed beyond them."""

from dataclasses import dataclass

ALLOW_OUTSIDE, ALLOW_SECRETS = "--allow-outside", "--allow-secrets"
"""The options of the command line that permit it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files may be read.

    Attributes:
        root: The real path of the project's root. What a file of the project asks for must lie below it.
        allow_outside: Whether files elsewhere may be read too.
        allow_secrets: Whether files that look like secrets may be read where they are named; a glob never takes them.
        is_fixed: Whether whoever asks cannot permit more, so that nothing tells how.
    """

    root: str = ""
    allow_outside: bool = True
    allow_secrets: bool = True
    is_fixed: bool = False
