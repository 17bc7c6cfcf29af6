"""Following a stream over interruptions."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from typing import Any

from .call import jittered_delay, send
from .calls import OPERATIONS
from .effects import Effect, Item, Notify, Policy, Read, Sleep
from .errors import EarshotError, error_from_answer, is_restored
from .events import Event, EventParser
from .request import Connection
from .types import Removal

OPEN_MAX = 15.0
# The server sends something every 15 s.
DEFAULT_SILENCE_MAX = 45.0
DEFAULT_RETRY = 3.0
# More than the server repeats after a reconnect.
IDS_KEPT = 1_000

RemovalListener = Callable[[Removal], object]
RestoreListener = Callable[[EarshotError], object]


class Following:
    """
    The state of a follower.

    It reconnects until a reconnect cannot fix an error. There is no fallback to long polls, which would be a second source
    of bugs. If a proxy cuts long answers, call `list_matches` with `wait_seconds`.
    """

    def __init__(
        self,
        connection: Connection,
        operation: str,
        filter: Mapping[str, object],
        *,
        cursor: str | None,
        item: str,
        id_of: Callable[[Any], object],
        silence_max: float | None,
        on_removed: RemovalListener | None = None,
        on_restored: RestoreListener | None = None,
    ) -> None:
        self.cursor = cursor
        self._connection = connection
        self._operation = OPERATIONS[operation]
        self._filter = filter
        self._item = item
        self._id_of = id_of
        self._silence_max = DEFAULT_SILENCE_MAX if silence_max is None else silence_max
        self._on_removed = on_removed
        self._on_restored = on_restored
        self._seen: OrderedDict[object, None] = OrderedDict()
        self._retry = DEFAULT_RETRY
        self._failures = 0

    def run(self) -> Policy[None]:
        while True:
            retry_after = 0.0
            try:
                yield from self._one_connection()
            except EarshotError as error:
                if is_restored(error):
                    self.cursor = error.details.get("oldest_cursor")
                    if self._on_restored:
                        yield Notify(self._on_restored, error)
                    continue
                # Reading changes nothing, so it also retries internal errors of the server.
                if not error.retryable and error.status < 500:
                    raise
                retry_after = error.retry_after or 0.0
            yield Sleep(max(retry_after, jittered_delay(self._failures, self._retry)))
            self._failures += 1

    def _one_connection(self) -> Policy[None]:
        headers = {"accept": "text/event-stream"}
        if self.cursor is not None:
            headers["last-event-id"] = self.cursor
        answer = yield send(
            self._connection, self._operation, self._filter, headers, OPEN_MAX, self._silence_max
        )
        if not answer.is_success:
            raise error_from_answer(answer.status, answer.headers, answer.body)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            message = "The answer is not a stream of events. Check the address of the server."
            raise EarshotError(message, code="unknown", status=answer.status)
        parser = EventParser()
        while True:
            piece = yield Read()
            if piece is None:
                return
            for event in parser.push(piece):
                self._failures = 0
                self._retry = self._retry if parser.retry is None else parser.retry
                self.cursor = event.id
                yield from self._take(event)

    def _take(self, event: Event) -> Generator[Effect, Any, None]:
        if event.event == "removed" and self._on_removed:
            yield Notify(self._on_removed, json.loads(event.data))
        if event.event != self._item:
            return
        item = json.loads(event.data)
        id = self._id_of(item)
        if id in self._seen:
            return
        self._seen[id] = None
        if len(self._seen) > IDS_KEPT:
            self._seen.popitem(last=False)
        yield Item(item)


def match_id(match: Any) -> object:
    return match["id"]


def notice_id(notice: Any) -> object:
    """A notice is yielded again when it is resolved."""
    return notice["id"], notice["resolved_at"]
