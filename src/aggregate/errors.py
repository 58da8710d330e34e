"""Every error that the package raises, in one tree.

::

    AggregateError
    ├── ConfigError         a configuration file cannot be used: which file, key and line
    ├── PresetError         a context preset is missing or cannot be stored
    ├── AnchorError         a slice cannot be captured from this text
    ├── SyntaxViewError     a file has no grammar or a symbol does not exist
    ├── BeadsError          one source of a project's beads cannot be read
    ├── TokenizerError      the bundled vocabulary is missing or damaged
    ├── OutputError         a result cannot be written
    └── ClientError         a model cannot be asked
        ├── ClientSetupError    a key, an SDK, a program or a name is missing: what to set or install
        ├── PromptTooLongError  the prompt exceeds the model's context window
        └── ProviderError       the provider refused or failed

Types are public interface, messages are not. Each message says in one sentence what happened, where, and what to do.
"""


class AggregateError(Exception):
    """Base of everything that the package raises on purpose."""


class ConfigError(AggregateError):
    """A configuration file cannot be used.

    Attributes:
        path: The file, or ``None`` for a configuration that was passed in as a mapping.
        key: Dotted name of the key at fault, or ``""`` for the whole file.
        line: 1-based line of that key, where it is known.
    """

    def __init__(self, message: str, *, path: str | None = None, key: str = "", line: int | None = None) -> None:
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


class BeadsError(AggregateError):
    """One source of a project's beads cannot be read; another one may."""


class TokenizerError(AggregateError):
    """The bundled vocabulary is missing or damaged."""


class OutputError(AggregateError):
    """A result cannot be written."""


class ClientError(AggregateError):
    """A model cannot be asked."""


class ClientSetupError(ClientError):
    """A key, an SDK, a program or a name is missing; the message says what to set or install."""


class PromptTooLongError(ClientError):
    """The prompt exceeds the model's context window.

    Attributes:
        tokens: Of the request, by o200k, the room for the answer included.
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
        self, message: str, *, status: int | None = None, retry_after: float | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable
