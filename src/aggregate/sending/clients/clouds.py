"""The clouds that serve models of other makers: Azure OpenAI, Amazon Bedrock and Google's Vertex AI.

Each is reached by the class that the maker's SDK has for it, and configured by the variables that these classes know.
Requests and answers are those of the maker's own API. Only the user names a cloud: see ``check_not_from_project``.
"""

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class VertexApi:
    """The adapter of Vertex AI: Claude speaks Anthropic's protocol there, Gemini Google's."""

    project: str  # who is charged
    location: str  # such as ``global``
    base_url: str | None = None  # ``None`` for Google's own address of the location
    # By default of whoever is signed in on this machine
    credentials: "Credentials | None" = field(default=None, repr=False)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        try:
            from google.auth.exceptions import GoogleAuthError
        except ImportError:
            raise ClientSetupError(
                'vertex needs the package google-auth: run pip install "manual-slop[ai]"'
            ) from None
        transport: Transport
        if api_family(VERTEX, request.model) == "anthropic":
            transport = AnthropicApi(VERTEX, ApiKey(), self.base_url, connect=self._connect)
        else:
            who = {"project": self.project, "location": self.location}
            vertex = {**who, "credentials": self.credentials}
            transport = GeminiApi(VERTEX, ApiKey(), self.base_url, vertex=vertex)
        try:
            return await transport.exchange(request, on_text)
        except GoogleAuthError as error:
            raise ClientSetupError(
                f"vertex is not signed in ({' '.join(str(error).split())[:200]}): "
                "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS"
            ) from None

    def _connect(self, sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        del options["api_key"]
        return sdk.AsyncAnthropicVertex(
            project_id=self.project, region=self.location, credentials=self.credentials, **options
        )


def open_cloud(
    name: str, environ: Mapping[str, str], *, base_url: str = "", needed: bool = True
) -> Transport:
    def setting(*variables: str) -> str:
        value = next((found for each in variables if (found := environ.get(each, "").strip())), "")
        if not value and needed:
            raise ClientSetupError(
                f"{name} needs the environment variable {' or '.join(variables)}"
            )
        return value

    def key(variable: str, *, is_needed: bool) -> ApiKey:
        return find_api_key(name, (variable,), environ, needed=is_needed)

    if name == AZURE:
        needs_key = needed and not environ.get(_AD_TOKEN)
        azure_key = key("AZURE_OPENAI_API_KEY", is_needed=needs_key)
        endpoint = base_url or setting("AZURE_OPENAI_ENDPOINT")
        version, token = setting("OPENAI_API_VERSION"), environ.get(_AD_TOKEN)
        return _azure(azure_key, endpoint, version, None if azure_key.value else token)
    if name == BEDROCK:
        aws_key = key("AWS_BEARER_TOKEN_BEDROCK", is_needed=False)
        region = setting("AWS_REGION", "AWS_DEFAULT_REGION")
        if needed and not aws_key.value and find_spec("boto3") is None:
            raise ClientSetupError(
                'bedrock needs the package boto3 to sign in: run pip install "anthropic[bedrock]", '
                "or set AWS_BEARER_TOKEN_BEDROCK"
            )
        return _bedrock(aws_key, region, base_url or None)
    project = setting("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
    return VertexApi(project, setting("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"), base_url or None)


def check_not_from_project(provider: str) -> None:
    """Refuse a cloud that a project names: whoever is signed in on this machine would pay for it."""
    if provider in CLOUDS:
        raise ClientSetupError(
            f"the project names the provider {provider}, which only you can: add --provider {provider}, or name it in "
            "your own configuration"
        )


def _azure(key: ApiKey, endpoint: str, version: str, token: str | None) -> Transport:
    def connect(sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        del options["base_url"]
        options["api_key"] = key.value or None
        return sdk.AsyncAzureOpenAI(
            azure_endpoint=endpoint, api_version=version, azure_ad_token=token, **options
        )

    return OpenAiApi(AZURE, key, endpoint, connect=connect)


def _bedrock(key: ApiKey, region: str, base_url: str | None) -> Transport:
    def connect(sdk: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - an SDK's module
        options["api_key"] = key.value or None
        return sdk.AsyncAnthropicBedrock(aws_region=region, **options)

    return AnthropicApi(BEDROCK, key, base_url, connect=connect)
