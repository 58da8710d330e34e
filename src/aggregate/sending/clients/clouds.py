"""The clouds that serve models of other makers: Azure OpenAI, Amazon Bedrock and Google's Vertex AI.

Each is reached by the class that the maker's SDK has for it, and configured by the variables that these classes know.
Requests and answers are those of the maker's own API. Only the user names a cloud: see ``check_not_from_project``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.errors import ClientSetupError
from aggregate.base.values import AZURE, BEDROCK, CLOUDS, VERTEX, Reply, api_family
from aggregate.sending.clients.anthropic_api import AnthropicApi
from aggregate.sending.clients.credentials import ApiKey, find_api_key
from aggregate.sending.clients.gemini_api import GeminiApi
from aggregate.sending.clients.openai_api import OpenAiApi
from aggregate.sending.clients.protocol import ModelRequest, OnText, Transport

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

_AD_TOKEN: Final = "AZURE_OPENAI_AD_TOKEN"  # noqa: S105 - the name of a variable
_ENDPOINT: Final = ("AZURE_OPENAI_ENDPOINT",)
_API_VERSION: Final = ("OPENAI_API_VERSION",)
_AWS_REGION: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_PROJECT: Final = ("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
_LOCATION: Final = ("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION")


@dataclass(frozen=True, slots=True)
class VertexApi:
    """The adapter of Vertex AI: Claude speaks Anthropic's protocol there, Gemini Google's.

    Attributes:
        project: The project that is charged.
        location: Where the model runs, such as ``global``.
        base_url: Where the API is, ``None`` for Google's own address of the location.
        credentials: Who asks; by default whoever is signed in on this machine.
    """

    project: str
    location: str
    base_url: str | None = None
    credentials: "Credentials | None" = field(default=None, repr=False)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send a request and return the answer."""
        try:
            from google.auth.exceptions import GoogleAuthError
        except ImportError:
            raise ClientSetupError(
                'vertex needs the package google-auth: run pip install "manual-slop[ai]"'
            ) from None
        try:
            return await self._transport(request.model).exchange(request, on_text)
        except GoogleAuthError as error:
            raise ClientSetupError(
                f"vertex is not signed in ({' '.join(str(error).split())[:200]}): "
                "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS"
            ) from None

    def _transport(self, model: str) -> Transport:
        if api_family(VERTEX, model) == "anthropic":
            return AnthropicApi(VERTEX, ApiKey(), self.base_url, connect=self._connect)
        return GeminiApi(
            VERTEX,
            ApiKey(),
            self.base_url,
            vertex={
                "project": self.project,
                "location": self.location,
                "credentials": self.credentials,
            },
        )

    def _connect(self, sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        del options["api_key"]
        return sdk.AsyncAnthropicVertex(
            project_id=self.project, region=self.location, credentials=self.credentials, **options
        )


def open_cloud(
    name: str, environ: Mapping[str, str], *, base_url: str = "", needed: bool = True
) -> Transport:
    """Return the adapter of a cloud.

    Args:
        name: One of ``CLOUDS``.
        environ: Where keys and settings are read from.
        base_url: Where it is reached, ``""`` for the address that its settings make.
        needed: Off for a client that plans and does not ask: then nothing need be set.

    Raises:
        ClientSetupError: A setting, a key or a package is missing.
    """
    return _OPEN[name](environ, base_url or None, needed)


def check_not_from_project(provider: str) -> None:
    """Refuse a cloud that a project's own file names.

    Clouds take whoever is signed in on the machine, so that a project that came from somebody else could spend what
    the user has not even set a key for.

    Raises:
        ClientSetupError: The provider is one.
    """
    if provider in CLOUDS:
        raise ClientSetupError(
            f"the project names the provider {provider}, which only you can: add --provider {provider}, or name it in "
            "your own configuration"
        )


def _azure(environ: Mapping[str, str], base_url: str | None, needed: bool) -> Transport:
    key = find_api_key(
        AZURE, ("AZURE_OPENAI_API_KEY",), environ, needed=needed and not environ.get(_AD_TOKEN)
    )
    endpoint = base_url or _setting(AZURE, _ENDPOINT, environ, needed=needed)
    version = _setting(AZURE, _API_VERSION, environ, needed=needed)

    def connect(sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        del options["base_url"]
        options["api_key"] = key.value or None
        token = environ.get(_AD_TOKEN) if not key.value else None
        return sdk.AsyncAzureOpenAI(
            azure_endpoint=endpoint, api_version=version, azure_ad_token=token, **options
        )

    return OpenAiApi(AZURE, key, endpoint, connect=connect)


def _bedrock(environ: Mapping[str, str], base_url: str | None, needed: bool) -> Transport:
    key = find_api_key(BEDROCK, ("AWS_BEARER_TOKEN_BEDROCK",), environ, needed=False)
    region = _setting(BEDROCK, _AWS_REGION, environ, needed=needed)
    if needed and not key.value and find_spec("boto3") is None:
        raise ClientSetupError(
            'bedrock needs the package boto3 to sign in: run pip install "anthropic[bedrock]", '
            "or set AWS_BEARER_TOKEN_BEDROCK"
        )

    def connect(sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        options["api_key"] = key.value or None
        return sdk.AsyncAnthropicBedrock(aws_region=region, **options)

    return AnthropicApi(BEDROCK, key, base_url, connect=connect)


def _vertex(environ: Mapping[str, str], base_url: str | None, needed: bool) -> Transport:
    project = _setting(VERTEX, _PROJECT, environ, needed=needed)
    return VertexApi(project, _setting(VERTEX, _LOCATION, environ, needed=needed), base_url)


_OPEN: Final[Mapping[str, Callable[[Mapping[str, str], str | None, bool], Transport]]] = {
    AZURE: _azure,
    BEDROCK: _bedrock,
    VERTEX: _vertex,
}


def _setting(
    provider: str, names: tuple[str, ...], environ: Mapping[str, str], *, needed: bool
) -> str:
    """Return the first of some variables that is set.

    Raises:
        ClientSetupError: None is, and one is needed.
    """
    value = next((environ[name].strip() for name in names if environ.get(name, "").strip()), "")
    if not value and needed:
        raise ClientSetupError(f"{provider} needs the environment variable {' or '.join(names)}")
    return value
