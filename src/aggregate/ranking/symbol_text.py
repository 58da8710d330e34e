"""The name of a function as it stands in source, from the ways in which programs print it."""

import re
from typing import Final

_HASH: Final = re.compile(r"::h[0-9a-f]{16}$")
_ARGUMENTS: Final = re.compile(r"<[^<>]*+>|\([^()]*+\)$|`\d+|\[[^\[\]]*+\]|\{[^{}]*+\}+")
_RECEIVER: Final = re.compile(r"\(\*?(\w+)\)")
_LAMBDA: Final = re.compile(r"^lambda\$(\w+)\$\d+$")
_SEPARATORS: Final = re.compile(r"::|->|[.#$+/\\|]")
_NO_NAMES: Final = frozenset(
    {"", "init", "clinit", "closure", "lambda", "module", "anonymous", "func1", "func2", "func3", "main_", "as",
     "prototype", "exports", "Object", "async", "new", "block", "top", "required", "global"}
)  # fmt: skip
"""What stands in the place of a name where a function has none."""
_LONGEST: Final = 200


def plain_symbol(text: str) -> str:
    """Return the function's name, behind its class where that is named: ``Session.send``; ``""`` for none."""
    text = _HASH.sub("", text[:_LONGEST].strip())
    text = text.removeprefix("block in ").removeprefix("rescue in ").removeprefix("ensure in ")
    is_constructor = text.endswith(("<init>", ".ctor"))
    text = _ARGUMENTS.sub("", _RECEIVER.sub(r"\1", text)).removesuffix("..ctor")
    parts = (
        [_LAMBDA.sub(r"\1", part) for part in _SEPARATORS.split(text)]
        if "lambda$" not in text
        else (_LAMBDA.sub(r"\1", text.rpartition(".")[2]).split())
    )
    names = [part for part in parts if part not in _NO_NAMES and part.replace("_", "a").isalnum()]
    if not names:
        return ""
    has_class = len(names) > 1 and names[-2][:1].isupper() and not is_constructor
    return ".".join(names[-2:]) if has_class else names[-1]
