"""Replace bytes that a grammar misreads, for the parser alone."""

import re

# The scanner reads a keyword at the start of a line where a digit or an underscore goes on, and a modifier where a
# name is called, assigned or asked for a member.
_KOTLIN_NAME = re.compile(
    rb"""
    (?<=\n)[ \t]*+(?:
        (?:as|by|constructor|else|get|in|instanceof|set|where)(?=[0-9_])
      | (?:abstract|crossinline|external|final|infix|inline|internal|lateinit|noinline|open|override
          |private|protected|public|sealed|tailrec|vararg)(?=[ \t]*+(?:\?\.|[.(\[]|=(?!=)))
      | get(?=[.\[]|[ \t]*+=[^=]|\([^)\s])
      | set(?=[.\[]|[ \t]*+=[^=]|\([^()\n]*+,))
    """,
    re.VERBOSE,
)


def kotlin_with_plain_names(source: bytes) -> bytes:
    """Return Kotlin in which no name at the start of a line begins like a keyword."""
    return _KOTLIN_NAME.sub(_capitalised, source)


def _capitalised(match: re.Match[bytes]) -> bytes:
    blanks = len(match[0]) - len(match[0].lstrip())
    return match[0][:blanks] + match[0][blanks:].capitalize()
