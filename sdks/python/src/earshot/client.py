"""The synchronous and the asynchronous client. They differ only in how they perform effects."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar, cast

import httpx

from .call import DEFAULT_TIMEOUT, call
from .calls import OPERATIONS, AsyncCalls, Calls
from .consume import consume
from .effects import Answer, Item, Notify, Policy, Read, Send, Sleep, advance
from .errors import EarshotError, too_late, unreachable
from .export import export
from .follow import Following, RemovalListener, RestoreListener, match_id, notice_id
from .request import connect
from .types import Match, Notice

T = TypeVar("T")
Matches = TypeVar("Matches")
Notices = TypeVar("Notices")
Consumed = TypeVar("Consumed")
Exported = TypeVar("Exported")


class _Client(Generic[Matches, Notices, Consumed, Exported]):
    """What both clients share: the settings, and the methods that return iterators."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self._connection = connect(url, key)
        self._timeout = timeout

    def follow_matches(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        cursor: str | None = None,
        on_removed: RemovalListener | None = None,
        on_restored: RestoreListener | None = None,
        silence_max: float | None = None,
    ) -> Matches:
        """Stream new matches, each once, and resume after interruptions.

        It starts with new matches, or after the cursor. It raises an error only if a reconnect cannot help: an invalid key, a
        deleted rule, an expired cursor.

        Args:
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            relevance: What to leave out, as in `list_matches`.
            cursor: Where to begin: the `cursor` of an earlier loop with the same filter.
            on_removed: A match was removed: delete your copy. Called in the order of the log, also for matches that this loop
                never yielded.
            on_restored: Earshot was restored to an earlier state, and the loop continues from there. It misses no stored
                match, but some matches may be listed again with new ids.
            silence_max: The connection counts as dead after this many seconds without data. 45 by default.
        """
        following = Following(
            self._connection,
            "StreamMatches",
            {"rule_id": rule_id, "platform": platform, "relevance": relevance},
            cursor=cursor,
            item="match",
            id_of=match_id,
            silence_max=silence_max,
            on_removed=on_removed,
            on_restored=on_restored,
        )
        return cast(Matches, self._followed(following))

    def follow_notices(self, *, cursor: str | None = None, silence_max: float | None = None) -> Notices:
        """Stream notices as they are raised and again when they are resolved, and resume after interruptions."""
        following = Following(
            self._connection,
            "StreamNotices",
            {},
            cursor=cursor,
            item="notice",
            id_of=notice_id,
            silence_max=silence_max,
        )
        return cast(Notices, self._followed(following))

    def consume_matches(
        self,
        *,
        reader: str,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        start: Literal["oldest", "now"] | None = None,
        limit: int | None = None,
        wait_seconds: int | None = None,
        until_empty: bool = False,
        on_removed: RemovalListener | None = None,
        on_restored: RestoreListener | None = None,
        timeout: float | None = None,
    ) -> Consumed:
        """Read matches with a named reader, and acknowledge each page when the loop requests the next one.

        If the program leaves the loop or crashes, it gets the page again: delivery is at least once. With `limit=1`, each
        match is acknowledged separately.

        Args:
            reader: Name of the reader, chosen by you. The first use creates it, with its filter and start.
            rule_id: At the first use: only matches of this rule.
            platform: At the first use: only matches on this platform.
            relevance: At the first use: what to leave out, as in `list_matches`.
            start: At the first use: start with new matches (the default), or with the oldest stored match.
            limit: Matches per page. 50 by default.
            wait_seconds: How long a request waits for a match. 30 by default.
            until_empty: Ends after the last stored match, instead of waiting for new ones.
            on_removed: A match was removed: delete your copy. Called before the page is acknowledged.
            on_restored: Earshot was restored to an earlier state, and the reader continues from there.
            timeout: Seconds for all attempts of a request together.
        """
        request = {
            "reader": reader,
            "rule_id": rule_id,
            "platform": platform,
            "relevance": relevance,
            "start": start,
            "limit": limit,
            "wait_seconds": wait_seconds,
        }
        policy = consume(
            self._connection,
            request,
            self._seconds(timeout),
            until_empty=until_empty,
            on_removed=on_removed,
            on_restored=on_restored,
        )
        return cast(Consumed, self._iterate(policy))

    def export_matches(
        self,
        *,
        format: Literal["ndjson", "csv", "parquet"],
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        hidden: Literal["exclude", "include", "only"] | None = None,
        cursor: str | None = None,
        through: str | None = None,
        limit: int | None = None,
        silence_max: float | None = None,
    ) -> Exported:
        """Download stored matches as a file, oldest first. Yields its bytes.

        If the download is cut, it raises an error. NDJSON and CSV can be continued: pass the id of the last complete row as
        `cursor`.

        Args:
            format: Format of the file.
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            from_: Only matches created at or after this time.
            to: Only matches created before this time.
            relevance: What to leave out, as in `list_matches`.
            hidden: What to do with hidden matches, as in `list_matches`.
            cursor: Continues behind this match.
            through: The last match to export.
            limit: The file ends after this many stored matches.
            silence_max: The connection counts as dead after this many seconds without data. 60 by default.
        """
        request = {
            "format": format,
            "rule_id": rule_id,
            "platform": platform,
            "from": from_,
            "to": to,
            "relevance": relevance,
            "hidden": hidden,
            "cursor": cursor,
            "through": through,
            "limit": limit,
        }
        return cast(Exported, self._iterate(export(self._connection, request, silence_max)))

    def _policy_of(
        self,
        operation: str,
        request: Mapping[str, object],
        timeout: float | None,
        idempotency_key: str | None,
    ) -> Policy[Any]:
        return call(
            self._connection, OPERATIONS[operation], request, self._seconds(timeout), idempotency_key
        )

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout

    def _followed(self, following: Following) -> object:
        raise NotImplementedError

    def _iterate(self, policy: Policy[None]) -> object:
        raise NotImplementedError


class Followed(Generic[T]):
    """Items in the order of the log, each once. Iterating again continues where the last loop ended."""

    def __init__(self, client: Earshot, following: Following) -> None:
        self._client = client
        self._following = following

    @property
    def cursor(self) -> str | None:
        """Points behind the latest item. Store it after you have processed the item, and pass it to continue later."""
        return self._following.cursor

    def __iter__(self) -> Iterator[T]:
        return self._client._iterate(self._following.run())


class AsyncFollowed(Generic[T]):
    """Items in the order of the log, each once. Iterating again continues where the last loop ended."""

    def __init__(self, client: AsyncEarshot, following: Following) -> None:
        self._client = client
        self._following = following

    @property
    def cursor(self) -> str | None:
        """Points behind the latest item. Store it after you have processed the item, and pass it to continue later."""
        return self._following.cursor

    def __aiter__(self) -> AsyncIterator[T]:
        return self._client._iterate(self._following.run())


class Earshot(
    Calls,
    _Client[
        Followed[Match],
        Followed[Notice],
        Generator[Match, None, None],
        Generator[bytes, None, None],
    ],
):
    """
    The synchronous client. Several threads may share it.

    Args:
        url: Address of the server, such as `https://earshot.example.com`.
        key: An API key: `esk_…`.
        timeout: Default time limit of calls in seconds, for all attempts together.
        transport: Replaces the transport of httpx, for proxies and certificates.
    """

    def __init__(
        self,
        *,
        url: str,
        key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, timeout)
        self._http = httpx.Client(transport=transport, limits=_LIMITS)

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def __enter__(self) -> Earshot:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _call(
        self,
        operation: str,
        request: Mapping[str, object],
        timeout: float | None,
        idempotency_key: str | None = None,
    ) -> Any:
        policy = self._policy_of(operation, request, timeout, idempotency_key)
        exchange = _Exchange(self._http)
        outcome: object = None
        while True:
            try:
                effect = advance(policy, outcome)
            except StopIteration as end:
                return end.value
            outcome = exchange.perform(effect)

    def _followed(self, following: Following) -> Followed[Any]:
        return Followed(self, following)

    def _iterate(self, policy: Policy[None]) -> Generator[Any, None, None]:
        exchange = _Exchange(self._http)
        outcome: object = None
        try:
            while True:
                try:
                    effect = advance(policy, outcome)
                except StopIteration:
                    return
                if isinstance(effect, Item):
                    outcome = None
                    yield effect.value
                else:
                    outcome = exchange.perform(effect)
        finally:
            exchange.close()


class AsyncEarshot(
    AsyncCalls,
    _Client[
        AsyncFollowed[Match],
        AsyncFollowed[Notice],
        AsyncGenerator[Match, None],
        AsyncGenerator[bytes, None],
    ],
):
    """
    The asynchronous client, for asyncio.

    Args:
        url: Address of the server, such as `https://earshot.example.com`.
        key: An API key: `esk_…`.
        timeout: Default time limit of calls in seconds, for all attempts together.
        transport: Replaces the transport of httpx, for proxies and certificates.
    """

    def __init__(
        self,
        *,
        url: str,
        key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, timeout)
        self._http = httpx.AsyncClient(transport=transport, limits=_LIMITS)

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncEarshot:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _call(
        self,
        operation: str,
        request: Mapping[str, object],
        timeout: float | None,
        idempotency_key: str | None = None,
    ) -> Any:
        policy = self._policy_of(operation, request, timeout, idempotency_key)
        exchange = _AsyncExchange(self._http)
        outcome: object = None
        while True:
            try:
                effect = advance(policy, outcome)
            except StopIteration as end:
                return end.value
            outcome = await exchange.perform(effect)

    def _followed(self, following: Following) -> AsyncFollowed[Any]:
        return AsyncFollowed(self, following)

    async def _iterate(self, policy: Policy[None]) -> AsyncGenerator[Any, None]:
        exchange = _AsyncExchange(self._http)
        outcome: object = None
        try:
            while True:
                try:
                    effect = advance(policy, outcome)
                except StopIteration:
                    return
                if isinstance(effect, Item):
                    outcome = None
                    yield effect.value
                else:
                    outcome = await exchange.perform(effect)
        finally:
            await exchange.close()


# A follower keeps its connection open.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)

# Failures of the network. Others, such as a key that cannot be a header, are mistakes of the program.
_INTERRUPTIONS = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError, httpx.DecodingError)


class _Exchange:
    """Performs the effects of one policy. Failures of the network are outcomes, for the policy to judge."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] | None = None
        self._timeout = 0.0

    def perform(self, effect: object) -> object:
        if isinstance(effect, Sleep):
            time.sleep(effect.seconds)
        elif isinstance(effect, Notify):
            effect.listener(effect.argument)
        else:
            try:
                return self._send(effect) if isinstance(effect, Send) else self._read()
            except (EarshotError, httpx.TransportError, httpx.DecodingError) as error:
                self.close()
                return _failure(error, self._timeout)
        return None

    def _send(self, sending: Send) -> Answer:
        self.close()
        self._timeout = sending.timeout
        ends_at = time.monotonic() + sending.timeout
        response = self._http.send(_request(self._http, sending), stream=True)
        self._response = response
        self._pieces = response.iter_bytes()
        if _stays_open(sending, response):
            self._timeout = sending.silence_max or 0.0
            return Answer(response.status_code, response.headers, b"")
        body = bytearray()
        for piece in self._pieces:
            body += piece
            if time.monotonic() > ends_at:
                raise too_late(sending.timeout)
        return Answer(response.status_code, response.headers, bytes(body))

    def _read(self) -> bytes | None:
        return None if self._pieces is None else next(self._pieces, None)

    def close(self) -> None:
        if self._response is not None:
            self._response.close()


class _AsyncExchange:
    """The same, with asyncio."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None
        self._timeout = 0.0

    async def perform(self, effect: object) -> object:
        if isinstance(effect, Sleep):
            await asyncio.sleep(effect.seconds)
        elif isinstance(effect, Notify):
            outcome = effect.listener(effect.argument)
            if inspect.isawaitable(outcome):
                await outcome
        else:
            try:
                return await (self._send(effect) if isinstance(effect, Send) else self._read())
            except (EarshotError, httpx.TransportError, httpx.DecodingError) as error:
                await self.close()
                return _failure(error, self._timeout)
        return None

    async def _send(self, sending: Send) -> Answer:
        await self.close()
        self._timeout = sending.timeout
        ends_at = time.monotonic() + sending.timeout
        response = await self._http.send(_request(self._http, sending), stream=True)
        self._response = response
        self._pieces = response.aiter_bytes()
        if _stays_open(sending, response):
            self._timeout = sending.silence_max or 0.0
            return Answer(response.status_code, response.headers, b"")
        body = bytearray()
        async for piece in self._pieces:
            body += piece
            if time.monotonic() > ends_at:
                raise too_late(sending.timeout)
        return Answer(response.status_code, response.headers, bytes(body))

    async def _read(self) -> bytes | None:
        return None if self._pieces is None else await anext(self._pieces, None)

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()


def _request(http: httpx.Client | httpx.AsyncClient, sending: Send) -> httpx.Request:
    read = sending.timeout if sending.silence_max is None else sending.silence_max
    return http.build_request(
        sending.method,
        sending.url,
        params=dict(sending.query) or None,
        headers=dict(sending.headers),
        content=sending.content,
        timeout=httpx.Timeout(sending.timeout, read=read),
    )


def _stays_open(sending: Send, response: httpx.Response) -> bool:
    return sending.silence_max is not None and response.is_success


def _failure(error: Exception, timeout: float) -> EarshotError:
    if isinstance(error, EarshotError):
        return error
    if isinstance(error, httpx.TimeoutException):
        failure = too_late(timeout)
    elif isinstance(error, _INTERRUPTIONS):
        failure = unreachable()
    else:
        raise error
    failure.__cause__ = error
    return failure
