"""Short messages: suggestions for mistyped names, and abbreviated texts."""

from collections.abc import Sequence

_MOST = 20  # names in a list

_SIMILAR = 66.0  # percent: one of three letters differs


def did_you_mean(word: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches  # needed only for a mistake

    near = get_close_matches(word[:100].lower(), names, n=1)
    return f'did you mean "{near[0]}"?' if near else f"use one of {short_list(names)}"


def path_meant(path: str, paths: Sequence[str]) -> str:
    near = nearest_path(path, paths)
    return f': did you mean "{near}"?' if near else ""


def nearest_path(path: str, paths: Sequence[str]) -> str:
    """Return the path most similar to a missing one."""
    from rapidfuzz import fuzz  # needed only for a mistake

    wanted, length = _parts(path), path.count("/") + 1

    def similarity(candidate: str) -> tuple[float, float]:
        parts = _parts("/".join(candidate.split("/")[-length:]))
        scores = [*map(fuzz.ratio, wanted, parts)] if len(parts) == len(wanted) else [0.0]
        return min(scores), sum(scores)

    best = max(paths, key=similarity, default="")
    return best if best and similarity(best)[0] >= _SIMILAR else ""


def _parts(path: str) -> list[str]:
    return path.lower().replace("/", ".").split(".")


def short_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"[... {len(text) - most:,} of {len(text):,} characters ...]"
    return f"{text[: most - tail]} {left_out} {text[len(text) - tail :]}"
