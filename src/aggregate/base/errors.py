"""All errors of the package, in one tree.

Types are public interface, messages are not. A message names the failure, the object and the fix.
"""

from enum import StrEnum


class AggregateError(Exception):
    """Base of all errors raised on purpose by the package."""


def with_notes(error: BaseException, message: str = "") -> str:
    """Return an error's message, or another one, with the notes added to the error."""
    return "; ".join((message or str(error), *getattr(error, "__notes__", ())))


class MistakeError(AggregateError):
    """Base of errors in a command, a configuration or arguments, which the user can correct."""


class ConfigError(MistakeError):
    """A configuration cannot be used.

    Attributes:
        path: The configuration file, None for a mapping.
        key: Dotted key of the faulty value, ``""`` for the whole file.
        line: 1-based line of the fault, None if unknown.
    """

    def __init__(
        self, message: str, *, path: str | None = None, key: str = "", line: int | None = None
    ) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path, self.key, self.line = path, key, line


class PresetError(MistakeError):
    """A context preset is missing or cannot be stored."""


class AnchorError(AggregateError):
    """A slice's lines are reversed or outside of the text."""


class SyntaxViewError(MistakeError):
    """A file has no grammar, or lacks a requested symbol."""


class DeadlineError(SyntaxViewError):
    """Parsing a text exceeded its limit of time or memory, or crashed."""

    def __init__(self, problem: str = "") -> None:
        too_slow = "parsing was stopped: it took far longer than is usual for a file of this size"
        super().__init__(problem or too_slow)


class NotebookError(SyntaxViewError):
    """A Jupyter notebook is damaged."""


class BeadsError(AggregateError):
    """A file or command with a project's beads is unreadable."""


class TokenizerError(AggregateError):
    """The bundled vocabulary is missing or damaged."""


class ScopeError(AggregateError):
    """An untrusted project refers to an outside or secret file."""


class BudgetError(AggregateError):
    """The required parts of a prompt exceed its budget.

    Attributes:
        smallest: The smallest sufficient budget in tokens.
        reason: The message without the proposed remedy, for callers with a different remedy.
    """

    def __init__(self, message: str, *, smallest: int, reason: str = "") -> None:
        super().__init__(message)
        self.smallest = smallest
        self.reason = reason or message


class SeedError(MistakeError):
    """A task's focus files or symbols do not exist."""


class OutputError(AggregateError):
    """A file or other output cannot be written."""


class Refusal(StrEnum):
    """Error codes of the sessions_spawn protocol."""

    INVALID_TASK = "INVALID_TASK"
    INVALID_PARAMETER = "INVALID_PARAMETER"
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
    INVALID_ON_ERROR = "INVALID_ON_ERROR"


class SpawnError(MistakeError):
    """A request to spawn sub-agents was refused; ``code`` is the reason."""

    def __init__(self, message: str, *, code: Refusal) -> None:
        super().__init__(message)
        self.code = code


class Stopped(StrEnum):
    """Why sandboxed code returned no value."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    REFUSED = "refused"
    MISSING = "missing"


class SandboxError(AggregateError):
    """Sandboxed code raised ``exception``, exceeded a limit, or could not run."""

    def __init__(
        self, message: str, *, kind: Stopped = Stopped.REFUSED, exception: str = ""
    ) -> None:
        super().__init__(message)
        self.kind, self.exception = kind, exception


class CompilerError(AggregateError):
    """A result compiler cannot be registered."""


class TrackError(MistakeError):
    """A track cannot be found, run, resumed or cancelled."""


class WorkerError(AggregateError):
    """A worker returned no answer.

    Attributes:
        again: Whether a retry may help.
        tokens: Tokens used by the failed attempt.
        cost: Dollars spent by the failed attempt, None if unknown.
    """

    def __init__(
        self, message: str, *, again: bool = True, tokens: int = 0, cost: float | None = None
    ) -> None:
        super().__init__(message)
        self.again, self.tokens, self.cost = again, tokens, cost


class DataReferenceError(AggregateError, FileNotFoundError):
    """The file of a value moved to disk is unreadable."""


class ClientError(AggregateError):
    """A request to a model failed."""


class ClientSetupError(ClientError, MistakeError):
    """A key, package, program or model name is missing; the message has the remedy."""


class NoProviderError(ClientSetupError):
    """No provider is chosen."""


class PromptTooLongError(ClientError, MistakeError):
    """Prompt and answer need more ``tokens`` than the model's context ``window`` has."""

    def __init__(self, message: str, *, tokens: int, window: int) -> None:
        super().__init__(message)
        self.tokens, self.window = tokens, window


class ProviderError(ClientError):
    """The provider of a model refused or failed to answer.

    Attributes:
        status: HTTP status, if any.
        retry_after: Seconds after which the provider allows a retry.
        retryable: Whether a retry may help.
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
        self.status, self.retry_after, self.retryable = status, retry_after, retryable


class ToolError(MistakeError, ValueError):
    """A tool is unknown, cannot be registered, or rejects its arguments."""


class StateError(AggregateError):
    """A database of saved values or durable runs is unusable."""


class DatabaseAwayError(StateError):
    """The database of durable runs is temporarily unavailable."""


class ModelError(AggregateError):
    """A model returned no answer, or a scripted model has none for the question."""
