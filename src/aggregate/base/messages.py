"""Messages that stay short: what somebody probably meant, and long texts with a gap."""

from collections.abc import Sequence

# Names that a message lists: more are not read.
_MOST = 20

# Hundredths that two names have in common: of three letters one is another one or elsewhere.
_ALIKE = 66.0


def did_you_mean(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # needed only for a mistake

    near = get_close_matches(word[:100].lower(), known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are {short_list(known)}"


def path_meant(path: str, known: Sequence[str]) -> str:
    near = nearest_path(path, known)
    return f': did you mean "{near}"?' if near else ""


def nearest_path(path: str, known: Sequence[str]) -> str:
    """Return which of the known paths is meant by one that is not there, ``""`` for none; it may be the end of one."""
    from rapidfuzz import fuzz  # needed only for a mistake

    wanted, names = _parts(path), path.count("/") + 1

    def likeness(one: str) -> tuple[float, float]:
        parts = _parts("/".join(one.split("/")[-names:]))
        scores = [*map(fuzz.ratio, wanted, parts)] if len(parts) == len(wanted) else [0.0]
        return min(scores), sum(scores)

    best = max(known, key=likeness, default="")
    return best if best and likeness(best)[0] >= _ALIKE else ""


def _parts(path: str) -> list[str]:
    return path.lower().replace("/", ".").split(".")


def short_list(known: Sequence[str]) -> str:
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return ", ".join(known[:_MOST]) + more


def shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"[... {len(text) - most:,} of {len(text):,} characters ...]"
    return f"{text[: most - tail]} {left_out} {text[len(text) - tail :]}"
