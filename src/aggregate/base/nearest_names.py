"""The nearest name or path to a mistyped one."""

from collections.abc import Sequence

from aggregate.base.messages import short_list

_SIMILAR = 66.0  # percent: one of three letters differs


def did_you_mean(word: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches  # needed only for a mistake

    near = get_close_matches(word[:100].lower(), names, n=1)
    return f'did you mean "{near[0]}"?' if near else f"use one of {short_list(names)}"


def path_meant(path: str, paths: Sequence[str]) -> str:
    near = nearest_path(path, paths)
    return f': did you mean "{near}"?' if near else ""


def nearest_path(path: str, paths: Sequence[str]) -> str:
    """Return the path most similar to a missing one, ``""`` if none is similar."""
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
