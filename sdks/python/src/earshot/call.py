"""A call with its retries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from random import random
from secrets import token_hex
from time import monotonic
from typing import Any

from .effects import Answer, Policy, Send, Sleep
from .errors import EarshotError, error_from_answer, parse_json
from .request import Connection, Operation

DEFAULT_TIMEOUT = 60.0
# Longer than the server waits for matches in a request.
ATTEMPT_MAX = 40.0
FIRST_DELAY = 0.25
DELAY_MAX = 10.0


def call(
    connection: Connection,
    operation: Operation,
    request: Mapping[str, object],
    timeout: float,
    idempotency_key: str | None = None,
) -> Policy[Any]:
    """Retries retryable errors while time is left. All attempts of a change send the same key."""
    ends_at = monotonic() + timeout
    key = idempotency_key or token_hex(16)
    headers = {"idempotency-key": key} if operation.changes else {}
    for failures in count():
        left = max(0.0, ends_at - monotonic())
        try:
            answer = yield send(connection, operation, request, headers, min(left, ATTEMPT_MAX))
            return read_answer(answer)
        except EarshotError as error:
            if not error.retryable:
                raise
            delay = max(error.retry_after or 0.0, jittered_delay(failures, FIRST_DELAY))
            if monotonic() + delay >= ends_at:
                raise
        yield Sleep(delay)
    raise AssertionError


def send(
    connection: Connection,
    operation: Operation,
    request: Mapping[str, object],
    headers: Mapping[str, str],
    timeout: float,
    silence_max: float | None = None,
) -> Send:
    fields = operation.fields_of(request)
    is_post = operation.method == "POST"
    content_type = {"content-type": "application/json"} if is_post else {}
    return Send(
        operation.method,
        connection.url + operation.path,
        {**connection.headers(), **content_type, **headers},
        timeout,
        query={} if is_post else {name: to_text(value) for name, value in fields.items()},
        content=json.dumps(fields).encode() if is_post else None,
        silence_max=silence_max,
    )


def to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_answer(answer: Answer) -> Any:
    if not answer.is_success:
        raise error_from_answer(answer.status, answer.headers, answer.body)
    value = parse_json(answer.body)
    if value is NotImplemented:
        message = "The answer is not JSON. Check the address of the server."
        raise EarshotError(message, code="unknown", status=answer.status)
    return value


def jittered_delay(failures: int, first: float) -> float:
    """Back-off with full jitter, so that clients that failed together do not retry together."""
    return random() * min(DELAY_MAX, first * 2.0 ** min(failures, 30))
