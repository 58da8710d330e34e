"""What somebody probably meant."""

from collections.abc import Sequence

_MOST = 20
"""Names that a message lists: more are not read."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return ``did you mean "..."?``, or what is known where nothing is near."""
    from difflib import get_close_matches  # needed only for a mistake

    near = get_close_matches(word[:100].lower(), known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are {short_list(known)}"


def short_list(known: Sequence[str]) -> str:
    """Return names for a message: the first twenty, and how many more there are."""
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return ", ".join(known[:_MOST]) + more
