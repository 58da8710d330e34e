"""Long texts and long lists of them, shortened so that a reader sees what was left out."""

from collections.abc import Sequence

from aggregate.base.values.jsonable import message_text


def shorten(text: str, most: int) -> str:
    """Return ``text``, or where it has more than ``most`` characters its beginning and its end with what it had."""
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"[... {len(text) - most:,} of {len(text):,} characters ...]"
    return f"{text[: most - tail]} {left_out} {text[len(text) - tail :]}"


def cut(text: str, most: int) -> str:
    """Return ``text``, or its beginning and ``…`` where it has more than ``most`` characters, for a narrow place."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_of(sentences: Sequence[str], most: int, characters: int) -> tuple[str, ...]:
    """Return the first ``most`` sentences, each with at most ``characters`` of its own, and how many more there are."""
    listed = [shorten(message_text(sentence), characters) for sentence in sentences[:most]]
    more = len(sentences) - len(listed)
    if more:
        listed.append(f"... and {more:,} more, {len(sentences):,} in all")
    return tuple(listed)
