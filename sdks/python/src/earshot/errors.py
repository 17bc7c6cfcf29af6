"""The errors of calls, and which of them a retry can fix."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal, cast

from .calls import RETRYABLE
from .types import ErrorCode, ErrorDetails

# The most likely meaning of an answer that is not from Earshot, such as a proxy's error page.
CODES_BY_STATUS: Mapping[int, ErrorCode] = {
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


class EarshotError(Exception):
    """Every failure of a call."""

    code: ErrorCode | Literal["unknown"]
    """`unknown` if the answer is not from Earshot and its status is ambiguous."""

    message: str

    details: ErrorDetails

    request_id: str | None
    """Include it if you report a problem."""

    status: int
    """HTTP status; 0 if there was no answer."""

    retry_after: float | None
    """How many seconds the server requests to wait."""

    retryable: bool
    """The same request may succeed later. The call has already been retried until its timeout."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | Literal["unknown"],
        details: ErrorDetails | None = None,
        request_id: str | None = None,
        status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = {} if details is None else details
        self.request_id = request_id
        self.status = status
        self.retry_after = retry_after
        # A limit is temporary only if the server sends Retry-After. A plan limit is not.
        is_lasting = code == "resource_exhausted" and retry_after is None
        self.retryable = not is_lasting and RETRYABLE.get(code, False)

    @property
    def reason(self) -> str | None:
        """The cause, if the code has several: `details["reason"]`."""
        return self.details.get("reason")

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def is_restored(error: EarshotError) -> bool:
    """Earshot was restored to an earlier state."""
    return error.code == "out_of_range" and error.reason == "restored"


def error_from_answer(status: int, headers: Mapping[str, str], body: bytes) -> EarshotError:
    """The error of an unsuccessful answer."""
    retry_after = parse_retry_after(headers.get("retry-after"))
    request_id = headers.get("x-request-id")
    envelope = parse_json(body)
    if isinstance(envelope, dict):
        code, message, details = (envelope.get(name) for name in ("code", "message", "details"))
        if isinstance(code, str) and code in RETRYABLE and isinstance(message, str):
            known = cast(ErrorDetails, details if isinstance(details, dict) else {})
            return EarshotError(
                message,
                code=cast(ErrorCode, code),
                details=known,
                request_id=known.get("request_id", request_id),
                status=status,
                retry_after=retry_after,
            )
    return EarshotError(
        f"The answer with status {status} is not from Earshot. "
        "Check the address of the server and any proxy.",
        code=CODES_BY_STATUS.get(status, "unknown"),
        request_id=request_id,
        status=status,
        retry_after=retry_after,
    )


def unreachable() -> EarshotError:
    return EarshotError("Earshot could not be reached.", code="unavailable")


def too_late(seconds: float) -> EarshotError:
    return EarshotError(f"Earshot sent nothing for {seconds * 1000:.0f} ms.", code="unavailable")


def parse_json(body: bytes) -> Any:
    """Returns `NotImplemented` if the body is not JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return NotImplemented


def parse_retry_after(value: str | None) -> float | None:
    """The header has seconds or an HTTP date."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d+\s*", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None
