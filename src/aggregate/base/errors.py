"""Every error that the package raises, in one tree.

::

    AggregateError
    ├── ConfigError         a configuration file cannot be used: which file, key and line
    ├── PresetError         a context preset is missing or cannot be stored
    ├── AnchorError         a slice cannot be captured from this text
    ├── SyntaxViewError     a file has no grammar or a symbol does not exist
    ├── BeadsError          one source of a project's beads cannot be read
    ├── TokenizerError      the bundled vocabulary is missing or damaged
    ├── ScopeError          a project asks for a file that it may not read
    ├── OutputError         a result cannot be written
    ├── SpawnError          a sub-agent cannot be spawned as asked: with a code
    ├── SandboxError        foreign code failed, was stopped or cannot be run: with its kind
    ├── CompilerError       a result compiler cannot be registered
    ├── DataReferenceError  a compacted value has no readable file (also a FileNotFoundError)
    ├── ToolError           a tool is unknown, cannot be registered or refuses its arguments (also a ValueError)
    ├── ModelError          a model gave no answer
    ├── TrackError          a track cannot be found, run, resumed or cancelled as asked
    ├── WorkerError         a worker gave no answer to its assignment: with whether to ask again
    ├── StateError          the store of saved state or of durable runs cannot be used
    └── ClientError         a model cannot be asked
        ├── ClientSetupError    a key, an SDK, a program or a name is missing: what to set or install
        ├── PromptTooLongError  the prompt exceeds the model's context window
        └── ProviderError       the provider refused or failed

Types are public interface, messages are not. Each message says in one sentence what happened, where, and what to do.
"""

from enum import StrEnum


class AggregateError(Exception):
    """Base of everything that the package raises on purpose."""


class ConfigError(AggregateError):
    """A configuration file cannot be used.

    Attributes:
        path: The file, or ``None`` for a configuration that was passed in as a mapping.
        key: Dotted name of the key at fault, or ``""`` for the whole file.
        line: 1-based line of that key, where it is known.
    """

    def __init__(
        self, message: str, *, path: str | None = None, key: str = "", line: int | None = None
    ) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.key = key
        self.line = line


class PresetError(AggregateError):
    """A context preset is missing or cannot be stored."""


class AnchorError(AggregateError):
    """A slice cannot be captured from this text."""


class SyntaxViewError(AggregateError):
    """A file has no grammar, or a symbol does not exist in it."""


class DeadlineError(SyntaxViewError):
    """A text cannot be parsed in the time and the memory that any program of its size needs."""

    def __init__(
        self,
        problem: str = "this text takes far longer to parse than a program of its size, and was given up",
    ) -> None:
        super().__init__(problem)


class NotebookError(SyntaxViewError):
    """A Jupyter notebook is damaged, so that its cells cannot be read."""


class BeadsError(AggregateError):
    """One source of a project's beads cannot be read; another one may."""


class TokenizerError(AggregateError):
    """The bundled vocabulary is missing or damaged."""


class ScopeError(AggregateError):
    """A project asks for a file outside of it, or for one that looks like a secret, without permission."""


class BudgetError(AggregateError):
    """What must be shown does not fit into the budget.

    Attributes:
        smallest: The smallest budget with which the same request succeeds, in tokens.
        reason: What does not fit, without the remedy: of a larger request another budget would do.
    """

    def __init__(self, message: str, *, smallest: int, reason: str = "") -> None:
        super().__init__(message)
        self.smallest = smallest
        self.reason = reason or message


class OutputError(AggregateError):
    """A result cannot be written."""


class Refusal(StrEnum):
    """Why a sub-agent is not spawned, or a session not made: the codes of the sessions_spawn protocol."""

    INVALID_TASK = "INVALID_TASK"
    INVALID_PARAMETER = "INVALID_PARAMETER"
    INVALID_COUNT = "INVALID_COUNT"
    INVALID_TIMEOUT = "INVALID_TIMEOUT"
    INVALID_ORDER = "INVALID_ORDER"
    INVALID_COLLECT_INTO = "INVALID_COLLECT_INTO"
    MISSING_COLLECT_INTO = "MISSING_COLLECT_INTO"
    INVALID_MERGE_STRATEGY = "INVALID_MERGE_STRATEGY"
    MERGE_STRATEGY_CONFLICT = "MERGE_STRATEGY_CONFLICT"
    INVALID_CUSTOM_FUNCTION = "INVALID_CUSTOM_FUNCTION"
    MISSING_CUSTOM_FUNCTION = "MISSING_CUSTOM_FUNCTION"
    GROUP_CLOSED = "GROUP_CLOSED"
    GROUP_FAILED = "GROUP_FAILED"
    INVALID_RUN_ID = "INVALID_RUN_ID"
    INVALID_CONCURRENCY = "INVALID_CONCURRENCY"
    INVALID_ON_ERROR = "INVALID_ON_ERROR"


class SpawnError(AggregateError):
    """A sub-agent cannot be spawned as asked; nothing was spawned.

    Attributes:
        code: The stable name of the reason.
    """

    def __init__(self, message: str, *, code: Refusal) -> None:
        super().__init__(message)
        self.code = code


class Stopped(StrEnum):
    """Why foreign code gave no value."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    REFUSED = "refused"
    MISSING = "missing"


class SandboxError(AggregateError):
    """Foreign code failed, was stopped at a limit, or cannot be run on this machine.

    Attributes:
        kind: Why it gave no value.
        exception: Name of the exception that the code raised, ``""`` where there is none.
    """

    def __init__(
        self, message: str, *, kind: Stopped = Stopped.REFUSED, exception: str = ""
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.exception = exception


class CompilerError(AggregateError):
    """A result compiler cannot be registered."""


class TrackError(AggregateError):
    """A track cannot be found, run, resumed or cancelled as asked."""


class WorkerError(AggregateError):
    """A worker gave no answer to its assignment.

    Attributes:
        again: Whether asking once more may help; a refusal stays one.
        tokens: What it has taken all the same, as far as is known.
        cost: What that has cost in US dollars, ``None`` where the price is not known.
    """

    def __init__(
        self, message: str, *, again: bool = True, tokens: int = 0, cost: float | None = None
    ) -> None:
        super().__init__(message)
        self.again = again
        self.tokens = tokens
        self.cost = cost


class DataReferenceError(AggregateError, FileNotFoundError):
    """A compacted value has no readable file."""


class ClientError(AggregateError):
    """A model cannot be asked."""


class ClientSetupError(ClientError):
    """A key, an SDK, a program or a name is missing; the message says what to set or install."""


class NoProviderError(ClientSetupError):
    """Nobody says whom to ask; how one is named follows from where it is asked."""


class PromptTooLongError(ClientError):
    """The prompt exceeds the model's context window.

    Attributes:
        tokens: Of the request, as the provider is taken to count, the room for the answer included.
        window: Of the model.
    """

    def __init__(self, message: str, *, tokens: int, window: int) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.window = window


class ProviderError(ClientError):
    """The provider refused or failed.

    Attributes:
        status: The HTTP status, ``None`` where there was no answer.
        retry_after: Seconds that the provider asks to wait, where it does.
        retryable: Whether the same request may succeed later.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable


class ToolError(AggregateError, ValueError):
    """A tool is unknown, cannot be registered, or refuses its arguments."""


class StateError(AggregateError):
    """The store of saved state, or of durable runs, cannot be used."""


class ModelError(AggregateError):
    """A model gave no answer, or has no script for the question."""
