"""Reference counts: tiktoken's public class with the published pattern."""

import struct
from base64 import b64encode
from functools import cache
from importlib.resources import files

from tiktoken import Encoding

_RULE = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)


@cache
def ranks() -> dict[bytes, int]:
    """Return the ranks of the bundled vocabulary, read independently of our code."""
    data = files("aggregate.base.tokens").joinpath("o200k_base.ranks").read_bytes()
    before_tokens = int.from_bytes(data[:4], "little")
    numbers = [number for (number,) in struct.iter_unpack("<I", data[:before_tokens])]
    count = len(numbers) // 2
    starts, of_ranks = numbers[: count + 1], numbers[count + 1 :]
    return {data[starts[i] : starts[i + 1]]: of_ranks[i] for i in range(count)}


def published_text() -> bytes:
    """Return the published vocabulary file, rebuilt from the bundled one."""
    in_order = sorted(ranks().items(), key=lambda pair: pair[1])
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for token, rank in in_order)


@cache
def encoding() -> Encoding:
    return Encoding("o200k_base", pat_str=_RULE, mergeable_ranks=ranks(), special_tokens={})


def plain_count(text: str) -> int:
    return len(encoding().encode_ordinary(text))
