"""
Does the steps of scenarios with the Python SDK, and prints what it observes: `packages/sdk/test/scenarios`.

Reads `{"name": …, "url": …, "steps": […]}` lines, and prints a line for each: `{"name": …, "observed": […]}`. The first
argument is the client: `sync` or `async`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import keyword
import re
import sys
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from typing import Any

import httpx

from earshot import AsyncEarshot, Earshot, EarshotError, WebhookVerificationError, verify_webhook

Client = type[Earshot] | type[AsyncEarshot]
Report = Callable[[object], None]


async def drive(client: Client, url: str, steps: list[dict[str, Any]]) -> list[object]:
    observed: list[object] = []
    earshot = connect(client, url)
    for step in steps:
        try:
            await take(step, earshot, observed.append)
        except Exception as error:
            observed.append(describe(error))
    await outcome_of(earshot.close())
    return observed


def connect(client: Client, url: str) -> Earshot | AsyncEarshot:
    """Without the certificates of authorities, which take 0.1 s to load."""
    if client is Earshot:
        return Earshot(url=url, key="esk_test", transport=httpx.HTTPTransport(verify=False))
    return AsyncEarshot(url=url, key="esk_test", transport=httpx.AsyncHTTPTransport(verify=False))


async def take(step: dict[str, Any], earshot: Earshot | AsyncEarshot, report: Report) -> None:
    kind = step["do"]
    request = {f"{name}_" if keyword.iskeyword(name) else name: value for name, value in step.get("request", {}).items()}
    listeners = {
        "on_removed": removal_listener(earshot, report),
        "on_restored": lambda error: report({"restored": error.code, "cursor": error.details["oldest_cursor"]}),
    }
    if kind == "call":
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", step["operation"]).lower()
        if "timeoutMs" in step:
            request["timeout"] = step["timeoutMs"] / 1000
        if "idempotencyKey" in step:
            request["idempotency_key"] = step["idempotencyKey"]
        report({"answer": await outcome_of(getattr(earshot, name)(**request))})
    elif kind == "follow":
        if step["what"] == "matches" and not step.get("ignoresRemovals"):
            request.update(listeners)
        if "silenceMsMax" in step:
            request["silence_max"] = step["silenceMsMax"] / 1000
        items: Any = earshot.follow_matches(**request) if step["what"] == "matches" else earshot.follow_notices(**request)
        for count in step["takes"]:
            left = count
            async with aclosing(each(items)) as all_items:
                async for item in all_items:
                    report({"item": item["id"], "cursor": items.cursor})
                    left -= 1
                    if left == 0:
                        break
    elif kind == "consume":
        left = step.get("take", -1)
        consume: Any = earshot.consume_matches
        items = consume(**{"reader": "r", **request}, until_empty=True, **listeners)
        async with aclosing(each(items)) as all_items:
            async for item in all_items:
                report({"item": item["id"]})
                left -= 1
                if left == 0:
                    break
    elif kind == "connect":
        connect(type(earshot), step["url"])
    elif kind == "verify":
        body = json.loads(step["body"]) if step.get("isParsed") else step["body"].encode()
        verified = verify_webhook(secret=step["secret"], headers=step["headers"], body=body, now=step["nowSeconds"])
        report({"verified": verified.id, "message": verified.message})


def removal_listener(earshot: object, report: Report) -> Callable[[Any], object]:
    def on_removed(removal: Any) -> None:
        report({"removed": removal["match_id"]})

    async def on_removed_later(removal: Any) -> None:
        await asyncio.sleep(0)
        on_removed(removal)

    return on_removed if isinstance(earshot, Earshot) else on_removed_later


async def outcome_of(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def each(items: Any) -> AsyncGenerator[Any, None]:
    """Closes the connection when the loop ends, and not some time later."""
    if hasattr(items, "__aiter__"):
        async with aclosing(aiter(items)) as iterator:
            async for item in iterator:
                yield item
    else:
        with closing(iter(items)) as iterator:
            for item in iterator:
                yield item


def describe(error: Exception) -> object:
    if isinstance(error, EarshotError):
        return {
            "error": {
                "code": error.code,
                "message": error.message,
                "reason": error.reason,
                "details": error.details,
                "requestId": error.request_id,
                "status": error.status,
                "retryable": error.retryable,
                "retryAfterMs": None if error.retry_after is None else error.retry_after * 1000,
            }
        }
    if isinstance(error, WebhookVerificationError):
        return {"unverified": str(error)}
    return {"mistake": str(error)}


async def run(client: Client, scenario: dict[str, Any]) -> None:
    observed = await drive(client, scenario["url"], scenario["steps"])
    sys.stdout.write(json.dumps({"name": scenario["name"], "observed": observed}) + "\n")
    sys.stdout.flush()


async def run_all(scenarios: list[dict[str, Any]]) -> None:
    await asyncio.gather(*(run(AsyncEarshot, one) for one in scenarios))


def main() -> None:
    scenarios = [json.loads(line) for line in sys.stdin]
    if sys.argv[1] == "async":
        asyncio.run(run_all(scenarios))
        return
    # The synchronous client blocks the event loop of its thread.
    with ThreadPoolExecutor(len(scenarios)) as threads:
        list(threads.map(lambda one: asyncio.run(run(Earshot, one)), scenarios))


main()
