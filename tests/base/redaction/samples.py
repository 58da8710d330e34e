"""Files with made-up secrets in ``samples.txt``, assembled at run time: no scanner finds one in this source.

``PLANTED`` has the kinds that services document, one each, ``RARE`` those that nothing else here shows, and
``PROJECTS`` such files as people have. ``FRESH`` was written after the rules, which were then not made to fit; what it
tells is whether they know more than what they were made for.
"""

import hashlib
import random
import re
import string
from dataclasses import dataclass
from pathlib import Path

_WORD = string.ascii_letters + string.digits
_ALPHABETS = {
    "SIGNS": _WORD + "!#%*-_+=|,;:@^&",
    "UHEX": "0123456789ABCDEF",
    "SMALL": string.ascii_lowercase + string.digits,
    "DJANGO": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
    "DIGITS": string.digits,
    "NUMBER": "123456789",
    "HEX": "0123456789abcdef",
    "SERIAL": string.ascii_uppercase + string.digits,
    "BASE32": string.ascii_uppercase + "234567",
    "LOWER": string.ascii_lowercase,
    "WORD": _WORD,
    "URLSAFE": _WORD + "-_",
    "B64": _WORD + "+/",
    "TYPED": _WORD + "!#%*-_+=",
    "SALT": _WORD + "!#%*-_+=|:@^",
}


@dataclass(frozen=True)
class Sample:
    """A file with a secret at each ``@@`` of its text, the same in each run."""

    kind: str
    path: str
    text: str
    shape: str
    """What makes the secret: texts, and so many letters of an alphabet, with blanks between them."""

    @property
    def value(self) -> str:
        source = random.Random(f"{self.kind} {self.path} {self.text}")
        pieces = [part.rpartition("*") for part in self.shape.split()]
        return "".join(
            "".join(source.choices(_ALPHABETS[name], k=int(last)))
            if name in _ALPHABETS
            else last.encode().decode("unicode_escape")
            for name, _, last in pieces
        )

    @property
    def content(self) -> str:
        return self.text.replace("@@", self.value)


def pem(kind: str, source: str, *, lines: int = 12) -> str:
    rng = random.Random(source)
    letters = _ALPHABETS["B64"]
    body = "\n".join("".join(rng.choices(letters, k=64)) for _ in range(lines))
    name = f"{kind} " if kind else ""
    dashes = "-" * 5
    last = "".join(rng.choices(letters, k=22))
    return f"{dashes}BEGIN {name}PRIVATE KEY{dashes}\n{body}\n{last}==\n{dashes}END {name}PRIVATE KEY{dashes}\n"


def _samples(table: str) -> tuple[Sample, ...]:
    rows = [line.split(" ¦ ") for line in table.strip().split("\n")]
    return tuple(
        Sample(kind, path, text.encode().decode("unicode_escape"), shape)
        for kind, path, text, shape in rows
    )


_TABLES = Path(__file__).with_name("samples.txt").read_text(encoding="utf-8")
PLANTED, RARE, PROJECTS, FRESH = map(_samples, re.split(r"(?m)^=====.*\n", _TABLES)[1:])


def digest_of(value: str) -> str:
    return f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
