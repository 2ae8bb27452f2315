"""One agent: ask the model, land its batch of calls, and go where the table says."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pytest_agentcontract.contract import reply
from pytest_agentcontract.contract.reply import InvalidInput, Reply
from pytest_agentcontract.contract.returning import ASKING, Event, Progress, Role, Seen, State
from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.reference import prompts
from pytest_agentcontract.reference.control import ControlPlane
from pytest_agentcontract.reference.conversation import Answer, Ask, Entry, Results, Said, Tool, ToolCall, ToolResult
from pytest_agentcontract.reference.rules import Landed, Verdict
from pytest_agentcontract.reference.run import Run, Voice
from pytest_agentcontract.reference.tools import AGENT, BLOCKING, ToolError, argument
from pytest_agentcontract.reference.transport import ModelError

_BROKEN = "the arguments of this call are no JSON object; send the whole call again"


@dataclass(slots=True)
class Agent:
    """The root or a child: its own history, bounds and children.

    `inbox` is what its children have delivered, `read` how much of it has been passed on; `detail` says more about a
    provider's fault. An agent of a workflow knows its `team`, and has a control plane in the place of children.
    """

    run: Run
    role: Role
    name: str = "root"
    schema: JSONObject | None = None
    team: str = ""
    control: ControlPlane | None = None
    progress: Progress = field(init=False)
    history: list[Entry] = field(default_factory=list)
    trail: list[Answer] = field(default_factory=list)
    inbox: list[str] = field(default_factory=list)
    read: int = 0
    children: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    failed_children: int = 0
    detail: str = ""

    def __post_init__(self) -> None:
        state = State.WORKING if self.run.rules.insist(self.role) else State.PARKED
        self.progress = Progress(state, self.run.rules.nudge_budget, self.run.step_cap)

    async def work(self, prompt: str) -> Progress:
        """Go from the seed to the end; live children end with their parent."""
        try:
            await self.hear(prompt)
            for _ in range(self.run.rules.requests_after_reply):
                with suppress(ModelError):
                    await self._ask()
        finally:
            await self.end_children()
        self.progress = self.run.rules.settle(self.progress, self.failed_children)
        return self.progress

    async def hear(self, text: str) -> None:
        """Take what a user or a parent says, and make steps until there is nothing more to ask."""
        self.history.append(Said((text,)))
        if self.progress.state is State.PARKED:
            self._go(Seen(Event.LINE))
        while self.progress.state in ASKING:
            self._go(await self._step())

    async def end_children(self) -> None:
        """Cancel the children that are still at work, and wait until they are gone."""
        tasks = [task for task in self.children.values() if not task.done()]
        grace = self.run.rules.grace(failed=self.progress.state is State.FAILED)
        if tasks and grace:
            await asyncio.wait(tasks, timeout=grace)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _step(self) -> Seen:
        try:
            answer = await self._ask()
        except ModelError as fault:
            self.detail = fault.detail
            return Seen(Event.FAULT)
        seen = self._land(answer)
        if seen.event is Event.NO_REPLY and self.run.rules.wait_before_nudge:
            await asyncio.gather(*self.children.values())
        headless_root = self.role.is_root and not self.role.interactive
        if seen.event is Event.NO_REPLY and self.run.rules.read_before_nudge and headless_root:
            await asyncio.to_thread(self.run.read_line)
        return seen

    def _go(self, seen: Seen) -> None:
        before, self.progress = self.progress, self.run.rules.advance(self.progress, seen)
        # The tool error of a rejected call is its nudge; a finish that no tool result answers needs a message.
        nudged = self.progress.state is State.WORKING and self.progress.nudges > before.nudges
        if nudged and not isinstance(self.history[-1], Results) and (text := self.run.rules.nudge(seen)):
            self.history.append(Said((text,)))

    async def _ask(self) -> Answer:
        if unread := self.inbox[self.read :]:
            self.history.append(Said(tuple(unread)))
            self.read = len(self.inbox)
        tools = self._tools()
        system = prompts.system(self.role, self.schema, offered=tools[-1].name == reply.NAME)
        if self.team:
            system = self.run.rules.handoff.inject(system, self.team)
        ask = Ask(system, self.run.rules.history(self.history), tools, self.run.rules.tool_choice(self.progress))
        answer = await self.run.client.ask(ask, Voice(self.run, self.role.is_root))
        calls = tuple(replace(call, arguments=self.run.rules.arguments(call.raw)) for call in answer.calls)
        answer = replace(answer, calls=calls)
        self.history.append(answer)
        self.trail.append(answer)
        return answer

    def _tools(self) -> tuple[Tool, ...]:
        others = self.control.tools if self.control else (AGENT,)
        tools = (*(blocking.tool for blocking in BLOCKING.values()), *others)
        if not self.run.rules.advertise(self.role):
            return tools
        return (*tools, Tool(reply.NAME, prompts.REPLY, reply.schema(self.schema)))

    def _land(self, answer: Answer) -> Seen:
        calls = self.run.rules.calls(answer)
        if not calls:
            offered = self.run.rules.prose(answer, self.trail[:-1])
            return _seen(answer, offered and self._held_to_schema(offered), otherwise=Event.NO_REPLY)
        batch = [self._use(call) for call in self.run.rules.batch(calls)]
        self.history.append(Results(tuple(landed.result for landed in batch)))
        rejected = next((landed.reply for landed in batch if isinstance(landed.reply, InvalidInput)), None)
        return _seen(answer, self.run.rules.choose(batch) or rejected, otherwise=Event.TOOLS)

    def _use(self, call: ToolCall) -> Landed:
        if call.name == reply.NAME and self.run.rules.accept(self.role):
            verdict = self._judge(call.arguments)
            if isinstance(verdict, Reply):
                return Landed(call, ToolResult(call.id, "accepted"), verdict)
            return Landed(call, ToolResult(call.id, f"error (invalid_input): {verdict.why}", is_error=True), verdict)
        try:
            return Landed(call, ToolResult(call.id, self._carry_out(call)))
        except ToolError as error:
            return Landed(call, ToolResult(call.id, str(error), is_error=True))

    def _judge(self, arguments: JSONObject | None) -> Verdict:
        return InvalidInput(_BROKEN) if arguments is None else self._held_to_schema(self.run.rules.validate(arguments))

    def _held_to_schema(self, offered: Verdict) -> Verdict:
        if self.schema is None or not isinstance(offered, Reply):
            return offered
        return self.run.rules.conform(offered, self.schema)

    def _carry_out(self, call: ToolCall) -> str:
        if call.name not in {tool.name for tool in self._tools()} - {reply.NAME}:
            raise ToolError("unknown_tool", f"there is no tool named {call.name!r} here")
        if call.arguments is None:
            raise ToolError("invalid_input", _BROKEN)
        if call.name in BLOCKING:
            return BLOCKING[call.name].use(self.run.workdir, call.arguments)
        if self.control:
            return self.control.use(call.name, call.arguments)
        return self._spawn(call.arguments)

    def _spawn(self, arguments: JSONObject) -> str:
        prompt, wanted = argument(arguments, "prompt"), argument(arguments, "name", AGENT.name)
        name = wanted if wanted not in self.children else f"{wanted}-{len(self.children) + 1}"
        child = Agent(self.run, Role(is_root=False, interactive=self.role.interactive), name)
        self.children[name] = asyncio.create_task(self._deliver(child, prompt))
        return f"started {name}; what it returns will come as a message"

    async def _deliver(self, child: Agent, prompt: str) -> None:
        end, rules = await child.work(prompt), self.run.rules
        self.progress = rules.charge(self.progress, end)
        if end.state is State.RETURNED:
            block = rules.returned_block(child.name, rules.for_parent(end.value, child.trail))
        else:
            block = rules.failure_tag(child.name, end.reason, child.trail)
            self.failed_children += 1
        self.inbox.append(rules.delivered(block, self.inbox))


def _seen(answer: Answer, verdict: Verdict | None, *, otherwise: Event) -> Seen:
    if isinstance(verdict, Reply):
        return Seen(Event.REPLIED, verdict.value, answer.text, answer.thinking, answer.stop)
    event = Event.REJECTED if isinstance(verdict, InvalidInput) else otherwise
    return Seen(event, prose=answer.text, thinking=answer.thinking, stop=answer.stop)
