"""How much foreign code may use: every limit of every sandbox, with its unit and its reason.

``SandboxLimits`` is the caller's; the constants below are those of the machinery around it.

================== ======================= ============================== ==========================
limit              Monty                   bubblewrap                     QuickJS
================== ======================= ============================== ==========================
wall time          ``seconds``             ``seconds``                    ``seconds``
processor time     (one thread)            ``seconds`` + 1, all threads   (one thread)
memory of values   ``memory_bytes``        ``memory_bytes``               ``memory_bytes``
memory in all      (its own process)       + ``RUNTIME_BYTES``, watched   ``WORKER_BYTES``
result, printed    ``output_bytes`` each   ``output_bytes`` together      ``output_bytes``
code               ``SOURCE_CHARACTERS``   ``SOURCE_CHARACTERS``          ``SOURCE_CHARACTERS``
processes          none                    one, ``THREADS`` threads       none
files              none                    none can be written            none
================== ======================= ============================== ==========================
"""

from dataclasses import dataclass
from typing import Final

from aggregate.base.errors import SandboxError, Stopped

EXTRA: Final = "install manual-slop[sandbox]"  # what to do where a sandbox is missing

# Characters of one piece of code. Models write pages, not books; a parser's time and memory grow with the text.
SOURCE_CHARACTERS: Final = 65_536
# Characters of one error's text: it goes into prompts and logs, and code chooses it freely.
ERROR_CHARACTERS: Final = 2_000
# Lists and objects in one answer. An empty one is 3 bytes of JSON and 72 bytes in this process.
CONTAINERS: Final = 1_000_000
# Memory that Python and its libraries (NumPy, pandas) write to before any value of the code.
RUNTIME_BYTES: Final = 256 * 1024 * 1024
# Address space that these libraries map; most of it is read from files and never written.
ADDRESS_BYTES: Final = 768 * 1024 * 1024
THREADS: Final = 32  # each costs the kernel some 20 KB that no memory limit counts
OPEN_FILES: Final = 64  # descriptors: each pipe or socket may hold some hundred KB in the kernel
WATCH_SECONDS: Final = 0.05  # how often memory and threads of a running sandbox are looked at
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
