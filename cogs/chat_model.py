"""
A language model by name, through pydantic-ai: questions in, text out as it comes.

Imported only when a model is set, because it needs the extra `ai` and takes a second to import.
"""

import difflib
import inspect
import logging
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from types import NoneType
from typing import Any, Literal, cast

import pydantic_ai
from pydantic_ai import Agent, ModelSettings
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, infer_model, known_model_names
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from bot import RetryLater
from bot.errors import ExtensionFailed

# A courtesy to programmers, which does not belong among the lines that our operator reads.
pydantic_ai.BANNER_ENABLED = False

#: What may succeed a little later. A quota that is used up does not, though it comes as a 429.
WORTH_A_RETRY = (
    ModelConnectionError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)

#: HTTP's own "the request took too long", which pydantic-ai puts into no category.
REQUEST_TIMEOUT = 408

#: Given as the key to a server of one's own: it needs none, but the client libraries insist.
NO_KEY = "none-needed"

#: Client libraries whose debug lines repeat whole requests, and with them what people wrote.
TALKATIVE = ("anthropic", "botocore", "cerebras", "groq", "openai")

Line = tuple[Literal["person", "bot"], str]


class ModelFailed(Exception):
    """Raised when the provider refuses a request for good; the text holds nothing of its answer."""


class LanguageModel:
    """One model, and the connections to its provider."""

    def __init__(self, name: str, base_url: str = "", instructions: str = "") -> None:
        """
        Connect nothing yet, but raise `ExtensionFailed` for what could never be reached.

        *name* is provider:model; *base_url* another server that speaks the provider's protocol.
        """
        model = _find(name, base_url)
        # A failed turn is tried again by us, visibly and in the open to a stop; the client
        # libraries' own retries beneath would multiply ours.
        once = "max_retries" not in model.unsupported_settings
        self.name = name
        self.agent: Agent[None, str | None] = Agent(
            model,
            name="chat",
            # None: a model that has nothing to say is not asked again.
            output_type=[str, NoneType],
            instructions=instructions or None,
            model_settings=ModelSettings(max_retries=0) if once else None,
        )

    async def open(self) -> None:
        """Own the connections, so that `close` ends them."""
        await self.agent.__aenter__()

    async def close(self) -> None:
        """End all connections."""
        await self.agent.__aexit__(None, None, None)

    async def answer(self, prompt: str, history: Sequence[Line]) -> AsyncGenerator[str, None]:
        """
        Yield the answer to *prompt* as the model writes it; closing it closes the connection.

        Raise `RetryLater` for what passes by itself, `ModelFailed` otherwise, neither with the
        provider's text: it may repeat what people wrote, and errors are logged.
        """
        try:
            async with aclosing(self._stream(prompt, history)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except AgentRunError as error:
            raise _outcome(self.name, error) from None

    async def _stream(self, prompt: str, history: Sequence[Line]) -> AsyncGenerator[str, None]:
        async with self.agent.iter(prompt, message_history=_messages(history)) as run:
            async for node in run:
                if not Agent.is_model_request_node(node):
                    continue
                async with node.stream(run.ctx) as events:
                    async for event in events:
                        match event:
                            case (
                                PartStartEvent(part=TextPart(content=text))
                                | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                            ) if text:
                                yield text
                            case _:
                                pass


def hush() -> None:
    """Keep what people wrote out of the client libraries' debug lines."""
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.INFO)


def _messages(history: Sequence[Line]) -> list[ModelMessage]:
    return [
        ModelRequest([UserPromptPart(text)])
        if role == "person"
        else ModelResponse([TextPart(text)])
        for role, text in history
    ]


def _outcome(name: str, error: AgentRunError) -> RetryLater | ModelFailed:
    what = [type(error).__name__]
    if isinstance(error, ModelHTTPError):
        what.append(str(error.status_code))
    if isinstance(error, ModelAPIError) and error.provider_error_code:
        what.append(error.provider_error_code)
    text = f"{name}: {' '.join(what)}"
    passing = isinstance(error, WORTH_A_RETRY) or (
        isinstance(error, ModelHTTPError) and error.status_code == REQUEST_TIMEOUT
    )
    return RetryLater(text) if passing else ModelFailed(text)


# --- from a name to a model ----------------------------------------------------------------------


def _find(name: str, base_url: str) -> Model:
    provider, _, model = name.partition(":")
    try:
        infer_provider_class(provider)
    except ValueError:
        raise ExtensionFailed(_unknown(name, provider)) from None
    except ImportError:
        pass  # known, but its library is missing: said below
    if base_url and provider == "openai":
        # By itself "openai" means the Responses API, which other servers seldom speak.
        name = f"openai-chat:{model}"
    try:
        return infer_model(name, (lambda p: _at(base_url, p)) if base_url else infer_provider)
    except (UserError, ImportError, ValueError) as error:
        raise ExtensionFailed(f'cogs.chat.model: "{name}": {_remedy(error)}') from None


def _at(base_url: str, provider: str) -> Provider[Any]:
    made = infer_provider_class(provider)
    takes = inspect.signature(made).parameters
    if "base_url" not in takes:
        raise UserError("this provider has one address only; leave cogs.chat.base_url empty")
    make = cast("Callable[..., Provider[Any]]", made)
    try:
        return make(base_url=base_url)
    except UserError:
        if "api_key" not in takes:
            raise
        return make(base_url=base_url, api_key=NO_KEY)


def _unknown(name: str, provider: str) -> str:
    known = {known.partition(":")[0] for known in known_model_names()} | {"ollama"}
    near = difflib.get_close_matches(provider, known, n=1)
    meant = f'did you mean "{near[0]}"?' if near else 'write one such as "openai" or "anthropic"'
    return f'cogs.chat.model: "{name}": there is no provider "{provider}"; {meant}'


def _remedy(error: Exception) -> str:
    """Say what to do: pydantic-ai's texts are for programmers, but name what they miss."""
    text = " ".join(str(error).split())
    variables = re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", text)
    if not variables:
        return text
    key = "cogs.chat.base_url, or " if any(name.endswith("_BASE_URL") for name in variables) else ""
    return f"set {key}{' or '.join(variables)} in the environment"
