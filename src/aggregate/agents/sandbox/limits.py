"""How much foreign code may use, every limit of every sandbox with its reason, and what may go in and come out.

``SandboxLimits`` is the caller's; the constants below are those of the machinery around it.

================== ======================= ==========================
limit              Monty                   QuickJS
================== ======================= ==========================
wall time          ``seconds``             ``seconds``
memory of values   ``memory_bytes``        ``memory_bytes``
memory in all      (its own process)       ``WORKER_BYTES``
result, printed    ``output_bytes`` each   ``output_bytes``
code               ``SOURCE_CHARACTERS``   ``SOURCE_CHARACTERS``
processes          none                    none
files              none                    none
================== ======================= ==========================
"""

from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import SandboxError, Stopped

EXTRA: Final = "install manual-slop[sandbox]"  # what to do where a sandbox is missing

# Characters of one piece of code. Models write pages, not books; a parser's time and memory grow with the text.
SOURCE_CHARACTERS: Final = 65_536
# Characters of one error's text: it goes into prompts and logs, and code chooses it freely.
ERROR_CHARACTERS: Final = 2_000
# Address space of a JavaScript worker; the limit of one run is QuickJS's own.
WORKER_BYTES: Final = 1 << 30
JAVASCRIPT_STACK: Final = 1 << 20
# Promise jobs that one JavaScript run may queue: a chain without end is no loop that QuickJS's timer sees.
PROMISE_JOBS: Final = 100_000


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
