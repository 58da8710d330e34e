"""Every error that the package raises, in one tree.

Types are public interface, messages are not. Each message says in one sentence what happened, where, and what to do.
"""

from enum import StrEnum


class AggregateError(Exception):
    """Base of everything that the package raises on purpose."""


class ConfigError(AggregateError):
    """A configuration file cannot be used: which file (``None`` for a mapping), dotted key (``""``: all) and line."""

    def __init__(
        self, message: str, *, path: str | None = None, key: str = "", line: int | None = None
    ) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path, self.key, self.line = path, key, line


class PresetError(AggregateError):
    """A context preset is missing or cannot be stored."""


class AnchorError(AggregateError):
    """A slice cannot be captured from this text."""


class SyntaxViewError(AggregateError):
    """A file has no grammar, or a symbol does not exist in it."""


class DeadlineError(SyntaxViewError):
    """A text cannot be parsed in the time and the memory that any program of its size needs."""

    def __init__(self, problem: str = "") -> None:
        longer = "this text takes far longer to parse than a program of its size, and was given up"
        super().__init__(problem or longer)


class NotebookError(SyntaxViewError):
    """A Jupyter notebook is damaged, so that its cells cannot be read."""


class BeadsError(AggregateError):
    """One source of a project's beads cannot be read; another one may."""


class TokenizerError(AggregateError):
    """The bundled vocabulary is missing or damaged."""


class ScopeError(AggregateError):
    """A project asks for a file outside of it, or for one that looks like a secret, without permission."""


class BudgetError(AggregateError):
    """What must be shown does not fit into the budget; ``smallest`` is one with which the request succeeds, in tokens.

    ``reason`` is what does not fit, without the remedy: of a larger request another budget would do.
    """

    def __init__(self, message: str, *, smallest: int, reason: str = "") -> None:
        super().__init__(message)
        self.smallest = smallest
        self.reason = reason or message


class SeedError(AggregateError):
    """None of the files or symbols that a task points at exists; the message holds the nearest names."""


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
    INVALID_CONCURRENCY = "INVALID_CONCURRENCY"
    INVALID_ON_ERROR = "INVALID_ON_ERROR"


class SpawnError(AggregateError):
    """A sub-agent cannot be spawned as asked, and nothing was spawned; ``code`` is the stable name of the reason."""

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
    """Foreign code failed (with the name of its ``exception``), was stopped at a limit, or cannot be run here."""

    def __init__(
        self, message: str, *, kind: Stopped = Stopped.REFUSED, exception: str = ""
    ) -> None:
        super().__init__(message)
        self.kind, self.exception = kind, exception


class CompilerError(AggregateError):
    """A result compiler cannot be registered."""


class TrackError(AggregateError):
    """A track cannot be found, run, resumed or cancelled as asked."""


class WorkerError(AggregateError):
    """A worker gave no answer, and took ``tokens`` and dollars all the same; asking ``again`` may help."""

    def __init__(
        self, message: str, *, again: bool = True, tokens: int = 0, cost: float | None = None
    ) -> None:
        super().__init__(message)
        self.again, self.tokens, self.cost = again, tokens, cost


class DataReferenceError(AggregateError, FileNotFoundError):
    """A compacted value has no readable file."""


class ClientError(AggregateError):
    """A model cannot be asked."""


class ClientSetupError(ClientError):
    """A key, an SDK, a program or a name is missing; the message says what to set or install."""


class NoProviderError(ClientSetupError):
    """Nobody says whom to ask; how one is named follows from where it is asked."""


class PromptTooLongError(ClientError):
    """The prompt, with room for an answer, has more ``tokens`` than the model's context ``window``."""

    def __init__(self, message: str, *, tokens: int, window: int) -> None:
        super().__init__(message)
        self.tokens, self.window = tokens, window


class ProviderError(ClientError):
    """The provider refused or failed, perhaps with an HTTP status and the seconds that it asks to wait."""

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


class ToolError(AggregateError, ValueError):
    """A tool is unknown, cannot be registered, or refuses its arguments."""


class StateError(AggregateError):
    """The store of saved state, or of durable runs, cannot be used."""


class DatabaseAwayError(StateError):
    """The database of durable runs does not answer now; later it may."""


class ModelError(AggregateError):
    """A model gave no answer, or has no script for the question."""
