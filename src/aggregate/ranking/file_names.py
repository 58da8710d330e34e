"""What can be told of a word by itself: whether it is a file's name."""

from functools import cache

from aggregate.code.syntax import LANGUAGES, TAG_BY_NAME, TAG_BY_SUFFIX


def is_file_name(path: str) -> bool:
    """Tell whether ``path`` ends like a file of a language or format that is known: ``a/b.py``, ``docker/Dockerfile``.

    A bare word such as ``Makefile`` could be prose; with a folder or a suffix it is a file.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    by_suffix, by_name = _known_names()
    stem, dot, suffix = name.rpartition(".")
    # ``README.MD`` is a file, ``Timer.Go`` is a method.
    is_suffix = suffix.islower() or (suffix.isupper() and len(suffix) > 1)
    if stem and is_suffix and f"{dot}{suffix.lower()}" in by_suffix:
        return True
    return name.lower() in by_name and ("/" in path or "." in name)


@cache
def _known_names() -> tuple[frozenset[str], frozenset[str]]:
    suffixes = {suffix for language in LANGUAGES for suffix in language.suffixes}
    names = {name for language in LANGUAGES for name in language.names}
    return frozenset({*suffixes, *TAG_BY_SUFFIX}), frozenset({*names, *TAG_BY_NAME})
