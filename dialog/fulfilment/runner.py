"""Carries actions out well: in time, again where that is safe, from the cache where it may, and checked in shape.

call -> cached? -> breaker open? -> [try -> failed and safe? -> wait]* -> shape right? -> result
        '-- the action's timeout holds for all of it --'
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import structlog

from dialog.fulfilment import metrics, results
from dialog.fulfilment.breaker import CircuitBreaker
from dialog.fulfilment.cache import ResultCache
from dialog.fulfilment.types import Action, ActionCall, ActionFailed, ActionResult

log = structlog.get_logger(__name__)

LARGEST = 1 << 20
"""Bytes of a result."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 2.0

SHAPES: Mapping[str, Any] = {
    "weather": results.WeatherResult,
    "places": results.PlacesResult,
    "prices": results.PricesResult,
    "stock": results.StockResult,
    "product_info": results.ProductInfoResult,
    "reserve": results.ReserveResult,
    "handover": results.HandoverResult,
}


class ActionRunner:
    """Runs the actions of an assistant for all its conversations. `run` raises ActionFailed and nothing else."""

    def __init__(
        self,
        actions: Mapping[str, Action],
        *,
        timeout_s: float = 3.0,
        retries: int = 2,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._actions = dict(actions)
        self._timeout_s = timeout_s
        self._retries = retries
        self._clock = clock
        self._sleep = sleep
        self._cache = ResultCache(clock=clock)
        self._breakers: dict[str, CircuitBreaker] = {}

    async def run(
        self, call: ActionCall, *, timeout_s: float | None = None, retries: int | None = None, changes: str = "nothing"
    ) -> ActionResult:
        """`timeout_s` is for all attempts together; `changes` as the flow declares it. One that changes something is
        tried again only if it can be asked what became of its key."""
        action = self._actions.get(call.name)
        if action is None:
            raise ActionFailed(f"there is no action {call.name!r}")
        if (kept := self._cache.get(call)) is not None:
            metrics.ACTIONS.labels(call.name, "cached").inc()
            return kept
        began = self._clock()
        deadline = began + (self._timeout_s if timeout_s is None else timeout_s)
        attempts = 1 + (self._retries if retries is None else retries)
        safe = changes == "nothing"
        try:
            result = await self._attempts(action, call, deadline, attempts if safe or _honours_key(action) else 1, safe)
        except ActionFailed as error:
            metrics.ACTIONS.labels(call.name, "failed").inc()
            log.warning("an action failed", action=call.name, reason=str(error), uncertain=error.uncertain)
            raise
        finally:
            metrics.SECONDS.labels(call.name).observe(self._clock() - began)
        metrics.ACTIONS.labels(call.name, "done").inc()
        log.debug("an action was done", action=call.name, source=result.source, sample=result.sample)
        self._cache.put(call, result)
        return result

    async def lookup(self, call: ActionCall) -> ActionResult | None:
        """What came of a call that a crash interrupted; None when it never happened. Raises ActionFailed when
        nobody can tell."""
        action = self._actions.get(call.name)
        if action is None or not _honours_key(action):
            raise ActionFailed(f"{call.name} cannot say what became of it", uncertain=True)
        try:
            async with asyncio.timeout(self._timeout_s):
                found: ActionResult | None = await action.lookup(call.key)  # type: ignore[attr-defined]
        except TimeoutError:
            raise ActionFailed("no answer in time", retry=True, uncertain=True) from None
        except ActionFailed:
            raise
        except Exception as error:
            raise ActionFailed(f"lookup: {type(error).__name__}", uncertain=True) from None
        return None if found is None else _checked(call.name, found)

    async def close(self) -> None:
        """Connections that actions hold are closed."""
        for action in self._actions.values():
            if callable(close := getattr(action, "close", None)):
                await close()

    async def _attempts(
        self, action: Action, call: ActionCall, deadline: float, attempts: int, safe: bool
    ) -> ActionResult:
        breaker = self._breaker(call.name, action)
        for attempt in range(attempts):
            if not breaker.allows():
                metrics.ACTIONS.labels(call.name, "refused").inc()
                raise ActionFailed("left alone for a while after failures in a row")
            try:
                result = _checked(call.name, await self._once(action, call, deadline, safe))
            except ActionFailed as error:
                breaker.failed(error.wait_s)
                wait_s = max(error.wait_s, _backoff(attempt))
                if not error.retry or attempt + 1 == attempts or self._clock() + wait_s >= deadline:
                    raise
                metrics.RETRIES.labels(call.name).inc()
                await self._sleep(wait_s)
            except BaseException:
                breaker.gave_up()
                raise
            else:
                breaker.succeeded()
                return result
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, action: Action, call: ActionCall, deadline: float, safe: bool) -> ActionResult:
        try:
            async with asyncio.timeout(max(0.0, deadline - self._clock())):
                return await action.run(call)
        except TimeoutError:
            raise ActionFailed("no answer in time", retry=safe, uncertain=not safe) from None
        except ActionFailed:
            raise
        except Exception as error:  # somebody else's code; the message may hold a shopper's words
            raise ActionFailed(f"{type(action).__name__}: {type(error).__name__}", uncertain=not safe) from None

    def _breaker(self, name: str, action: Action) -> CircuitBreaker:
        """One for each provider: what Yelp does says nothing about eBay."""
        provider = str(getattr(action, "source", "")) or name
        return self._breakers.setdefault(provider, CircuitBreaker(clock=self._clock))


def _honours_key(action: Action) -> bool:
    return callable(getattr(action, "lookup", None))


def _backoff(attempt: int) -> float:
    """Doubling, with jitter, so that many conversations do not come back at once."""
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0**attempt) * random.uniform(0.75, 1.25)


def _checked(name: str, result: ActionResult) -> ActionResult:
    """The result, which is what its shape says; what came from elsewhere is not trusted to be."""
    try:
        if len(msgspec.json.encode(result.result)) > LARGEST:
            raise ActionFailed(f"a result of more than {LARGEST >> 20} MB")
        msgspec.convert(result.result, SHAPES.get(name, dict[str, Any]))
    except (msgspec.MsgspecError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise ActionFailed(f"a result of the wrong shape ({type(error).__name__})") from None
    return result
