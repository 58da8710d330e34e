"""How much foreign Python may use, and what may go in and come out.

``SandboxLimits`` is the caller's: wall time, memory of values, and the size of what is printed and of the result. The
constants below are those of the machinery around it. No code gets processes, files, environment or network.
"""

from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import SandboxError, Stopped

EXTRA: Final = "install manual-slop[sandbox]"  # what to do where a sandbox is missing

# Characters of one piece of code. Models write pages, not books; a parser's time and memory grow with the text.
SOURCE_CHARACTERS: Final = 65_536
# Characters of one error's text: it goes into prompts and logs, and code chooses it freely.
ERROR_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    seconds: float = 2.0  # of wall time; the run is ended by force shortly after it
    memory_bytes: int = 64 * 1024 * 1024  # that its values may take
    output_bytes: int = 16 * 1024 * 1024  # that it may print, and of its result as JSON

    def timeout(self, exception: str = "") -> SandboxError:
        text = f"stopped after {self.seconds:g} s"
        return SandboxError(text, kind=Stopped.TIMEOUT, exception=exception)


def check_length(source: str, what: str) -> None:
    if len(source) > SOURCE_CHARACTERS:
        raise SandboxError(f"the {what} has more than {SOURCE_CHARACTERS} characters")


def shorten_error(text: str) -> str:
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}... ({len(text) - ERROR_CHARACTERS} more characters)"
