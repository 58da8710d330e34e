"""Token counts of a few texts by one call of the tokenizer, which lets other threads run for as long as it takes."""

import re
import sys
from collections.abc import Iterator, Sequence

from aggregate.base.tokens.vocabulary import END_OF_TEXT, END_OF_TEXT_RANK, tokenizer

_RANK_BYTES = 4
# No other four bytes of a buffer are these, also where they begin inside of a rank: ranks are below 2**18, so that
# their high bytes are 0 and at most 3, where this one has 0x3f and 0x0d.
_END_BYTES = END_OF_TEXT_RANK.to_bytes(_RANK_BYTES, sys.byteorder)
# No alternative of the splitting rule goes on from a letter to one of these characters, and none looks at what stands
# before it: the tokens of both sides are the same with and without the other one. An apostrophe would go on.
_BORDER = re.compile(r"[A-Za-z](?=[\x00-&(-@\[-`{-\x7f])")


def count_batch(texts: Sequence[str]) -> list[int]:
    """Return the number of o200k tokens of each text; special tokens in them count as the plain text that they are."""
    joined = END_OF_TEXT.join(texts)
    if joined.count(END_OF_TEXT) != len(texts) - 1:  # it stands in one of them, or there is none
        return [_count_plain(text) for text in texts]
    ranks = _encode(joined, {END_OF_TEXT})
    return [len(part) // _RANK_BYTES for part in ranks.split(_END_BYTES)]


def cut(text: str, characters: int) -> Iterator[str]:
    """Yield parts of ``text`` whose token counts sum up to that of the whole.

    Args:
        text: What to cut.
        characters: From how many on a part ends where it can: in what a person has written, a few characters later.
    """
    start = 0
    while len(text) - start > characters and (border := _BORDER.search(text, start + characters)):
        yield text[start : border.end()]
        start = border.end()
    yield text[start:] if start else text


def _count_plain(text: str) -> int:
    return len(_encode(text, set())) // _RANK_BYTES


def _encode(text: str, special: set[str]) -> bytes:
    """Return the ranks of the tokens of a text; half a surrogate pair counts as a replacement character."""
    try:
        return bytes(tokenizer().encode_to_tiktoken_buffer(text, special))
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return bytes(tokenizer().encode_to_tiktoken_buffer(whole, special))
