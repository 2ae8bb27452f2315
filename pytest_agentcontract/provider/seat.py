"""The model's seat at one case: answers what comes in below its prefix, and tells the driver how far the run is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar
from urllib.parse import unquote

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import loads
from pytest_agentcontract.provider.encoding import decoded
from pytest_agentcontract.provider.http import Connection, Incoming, break_off, head
from pytest_agentcontract.provider.plan import FINAL, Cut, Pause, Step, document
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.provider.response import steps
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.formats import WireFormat

HOLD_LIMITS: dict[str, float | None] = {"printed": 3.0, "delivered": 3.0, "released": 30.0, "end": None}
"""How long a gate stays shut at most, in seconds, by what it waits for."""

GATES = "/gates/"
"""Below the base URL: a POST to a gate's name there opens it, for those who can't call `release`."""

_MOST_MISSED = 20
_LONGEST_NOTE = 1_000

_T = TypeVar("_T")


class Seat:
    """One scripted case behind one base URL. The public methods may be called from any thread but the server's own."""

    def __init__(
        self,
        script: Script,
        wires: Sequence[WireFormat],
        base_url: str,
        loop: asyncio.AbstractEventLoop,
        connections: AbstractSet[Connection],
        forget: Callable[[], object],
    ) -> None:
        self.base_url = base_url
        self.heard: Callable[[Exchange | str], object] = id  # which does nothing
        self._script, self._wires, self._loop = script, wires, loop
        self._forget = forget
        self._connections = connections  # the server's: all that are open, of whichever seat
        self._frozen: tuple[Exchange, ...] | None = None
        self._left: Mapping[str, tuple[int, ...]] = {}
        self._failure: Exception | None = None
        self._missed: dict[str, None] = {}
        self._printed: list[str] = []
        self._released: set[str] = set()
        self._renderings = Renderings()
        self._over = False
        self._under_way: dict[int, Connection] = {}
        self._busy, self._active_at = 0, time.monotonic()
        self._change = asyncio.Event()

    # ---- for the driver

    def printed(self, text: str) -> None:
        """Take the next piece of what the runtime printed: gates may wait for it."""
        self._loop.call_soon_threadsafe(self._take_printed, text)

    def release(self, gate: str) -> None:
        """Open the gate of this name: answers that are held there go on."""
        self._loop.call_soon_threadsafe(self._take_released, gate)

    def over(self) -> None:
        """Take note that the runtime is gone: answers that were held until then are broken off."""
        self._loop.call_soon_threadsafe(self._take_over)

    def turns_delivered(self, agent: str) -> int:
        """Return how many turns of an agent's script were handed over whole."""
        return self._ask(lambda: len(self._script.log.delivered_turns(agent)))

    def quiet_for(self) -> float:
        """Return for how many seconds nothing has happened; 0 while a request is being answered (held ones aside)."""
        return self._ask(lambda: 0.0 if self._busy else time.monotonic() - self._active_at)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return what was asked and answered so far."""
        return self._ask(self._script.exchanges) if self._frozen is None else self._frozen

    @property
    def left(self) -> Mapping[str, tuple[int, ...]]:
        """Return, by agent, the numbers of the turns that were not handed over so far."""
        return self._ask(self._script.left) if self._frozen is None else self._left

    @property
    def missed(self) -> tuple[str, ...]:
        """Return what was asked where nothing is served, method and path, each once."""
        return tuple(self._missed)

    def close(self) -> tuple[Exchange, ...]:
        """End the seat: break off what is open, and return everything that was asked and answered."""
        if self._frozen is None:
            asyncio.run_coroutine_threadsafe(self._freeze(), self._loop).result()
        if self._failure is not None:
            raise self._failure
        return self._frozen or ()

    # ---- in the loop's thread

    def serve(self, connection: Connection, incoming: Incoming, path: str) -> Coroutine[None, None, None] | None:
        """Answer one request below this seat's prefix: at once, or by what is returned, if that takes time."""
        connection.owner = self
        try:
            answering = self._respond(connection, incoming, path)
        except Exception as failure:  # noqa: BLE001 - a fault of ours, raised again by close()
            self._fail(connection, failure)
            return None
        self._changed()
        return answering

    def _respond(self, connection: Connection, incoming: Incoming, path: str) -> Coroutine[None, None, None] | None:
        wire = next((wire for wire in self._wires if wire.owns(incoming.method, path)), None)
        if wire is not None:
            answer = self._answer(incoming, wire, path)
            plan = steps(answer, wire, self._renderings, chunked=incoming.version != "1.0")
            if answer.delay or len(plan) > 1 or not isinstance(plan[0], bytes):
                return self._deliver(connection, answer, plan)
            self._hand_over(connection, answer, plan[0])
        elif incoming.method == "POST" and (gate := self._gate(path)):
            self._take_released(gate)
            connection.write(document(200, {"released": gate}))
        elif incoming.method == "HEAD":
            connection.write(head(200, {"content-length": "0"}))
        else:
            connection.write(self._beside(incoming, path))
        return None

    def _gate(self, path: str) -> str:
        """Return the gate of this script that a path names; "" for any other path."""
        gate = unquote(path.removeprefix(GATES)) if path.startswith(GATES) else ""
        return gate if gate in self._script.gates else ""

    def _beside(self, incoming: Incoming, path: str) -> bytes:
        """Answer what is no model request: what clients ask beside them, and what nobody serves."""
        for wire in sorted(self._wires, key=lambda wire: wire.HEADER not in incoming.headers):
            answer = wire.side_answer(incoming.method, path, incoming.body)
            if answer is not None:
                return document(200, answer)
        if len(self._missed) < _MOST_MISSED:
            self._missed[f"{incoming.method} {path}"] = None
        self.heard(f"{incoming.method} {path}")
        spoken = ", ".join(wire.NAME for wire in self._wires)
        message = f"nothing is served at {incoming.method} {path}: this seat speaks {spoken}"
        return document(404, self._wires[0].encode_error(404, message), FINAL)

    def _answer(self, incoming: Incoming, wire: WireFormat, path: str) -> Answer:
        target = f"{path}?{incoming.query}" if incoming.query else path
        try:
            body = decoded(incoming.body, incoming.headers.get("content-encoding", ""))
            request = wire.decode_request(loads(body.decode()), target)  # as UTF-8, and nothing but
        except (ValueError, WireError) as error:
            return self._script.undecodable(wire.NAME, f"the request body can't be read: {error}"[:_LONGEST_NOTE])
        # A client that hangs up and asks again at once must not be taken for two.
        for serial in [serial for serial, line in self._under_way.items() if line.hung_up]:
            self._script.log.over.add(serial)
        return self._script.answer(request, incoming.headers)

    def _hand_over(self, connection: Connection, answer: Answer, data: bytes) -> None:
        """Write the last of an answer. First the mark, then the bytes: the client may ask again before this returns."""
        serial = answer.exchange.serial
        if connection.closing:
            self._script.log.broken_off(serial, begun=False)
        else:
            self._script.log.delivered(serial)
        self.heard(self._script.log[serial])
        connection.write(data)

    async def _deliver(self, connection: Connection, answer: Answer, plan: tuple[Step, ...]) -> None:
        """Go through an answer that takes time."""
        self._busy += 1
        try:
            await self._go_through(connection, answer, plan)
        except Exception as failure:  # noqa: BLE001 - a fault of ours, raised again by close()
            self._fail(connection, failure)
        finally:
            self._busy -= 1
            self._changed()

    async def _go_through(self, connection: Connection, answer: Answer, plan: tuple[Step, ...]) -> None:
        serial, last = answer.exchange.serial, plan[-1]
        begun = whole = False
        self._under_way[serial] = connection
        try:
            if answer.delay:
                await asyncio.sleep(answer.delay)
            for step in plan[:-1]:
                begun = await self._take(connection, step, serial) or begun
            if isinstance(last, bytes) and not connection.closing:
                whole = True
                self._hand_over(connection, answer, last)
            else:
                await self._take(connection, last, serial)
        finally:
            del self._under_way[serial]
            if not whole:
                self._script.log.broken_off(serial, begun=begun)
                self.heard(self._script.log[serial])

    def _fail(self, connection: Connection, failure: Exception) -> None:
        self._failure = self._failure or failure
        connection.abort()

    async def _take(self, connection: Connection, step: Step, serial: int) -> bool:
        """Do one step of a response; tell whether it sent something."""
        if isinstance(step, Hold):
            await self._stand(step, serial)
        elif isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Cut):
            await _cut(connection, step)
        else:
            connection.write(step)
        return isinstance(step, bytes)

    async def _stand(self, hold: Hold, serial: int) -> None:
        """Wait at a gate. A client that waits with us is not busy: an interactive run may be fed meanwhile."""
        self._busy -= 1
        try:
            if not await self._until(lambda: self._gate_open(hold), HOLD_LIMITS[hold.until]):
                self._script.log.time_was_up(serial)
        except asyncio.CancelledError:
            self._script.log.gave_up_at(serial, hold)
            raise
        finally:
            self._busy += 1

    def _gate_open(self, hold: Hold) -> bool:
        return self._script.log.gate_open(hold, "".join(self._printed), self._released, over=self._over)

    async def _until(self, condition: Callable[[], bool], limit: float | None) -> bool:
        try:
            async with asyncio.timeout(limit):
                while not condition():
                    await self._change.wait()
        except TimeoutError:
            return False
        return True

    def _changed(self) -> None:
        """Wake whoever waits for a condition; each looks again for itself."""
        self._active_at = time.monotonic()
        self._change.set()
        self._change = asyncio.Event()

    def _take_printed(self, text: str) -> None:
        self._printed.append(text)
        self._changed()

    def _take_released(self, gate: str) -> None:
        self._released.add(gate)
        self._changed()

    def _take_over(self) -> None:
        self._over = True
        self._changed()

    async def _freeze(self) -> None:
        await break_off(self, self._connections)
        self._forget()
        self._left, self._frozen = self._script.left(), self._script.exchanges()

    def _ask(self, question: Callable[[], _T]) -> _T:
        async def ask() -> _T:
            return question()

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result()


async def _cut(connection: Connection, step: Cut) -> None:
    if step.ending == "rst":
        await connection.reset()
    elif step.ending == "fin":
        connection.close()
