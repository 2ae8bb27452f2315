// The engine: one invocation runs at most one agent, and posts what came of it. Between invocations it remembers nothing but the thread.

import { runAgent } from "./agent.mjs";
import { inert, mentioned, noticeText, teamSection } from "./people.mjs";
import { decide } from "./routing.mjs";
import { read, render } from "./sentinel.mjs";
import { bodyOf, isHuman, post, readJson, readThread, stateIn, stateLine, transcript } from "./thread.mjs";

/** Carry out one invocation: of a workflow, over a thread, because of an event or to go on from the last state. */
export async function invoke(run) {
  const { thread, workflow: path, event: cause } = run.handoff;
  const [workflow, comments, event] = await Promise.all([readJson(path), readThread(thread), cause && readJson(cause)]);
  const trigger = event && comments.find(({ id }) => id === event.comment);
  if (event && !trigger) throw new Error(`no comment ${event.comment} is there, which the event names`);
  const told = { issue_author: comments.find(isHuman)?.author.name ?? null, trigger_author: trigger?.author.name ?? null };
  const announce = (state) => notify(thread, state, told);

  const last = lastState(workflow, comments) ?? outset(workflow, trigger ?? comments.find(isHuman));
  const due = isDue(last, event, trigger);
  const state = due ? consuming(last.state, event, trigger ?? last.comment) : last.state;
  if (last.comment && !last.announced) await announce(state);
  if (!due) return;

  const { next: agent } = state;
  const ended = await runAgent(run, { name: agent, ...promptsOf(workflow, state, comments) });
  const found = decisionOf(ended);
  const after = stateAfter(workflow, state, agent, found);
  const record = found.config ?? { dispatch: fallbackOf(after.dispatch) };
  await post(thread, agent, bodyOf(inert(ended.text), render(record), stateLine(after)));
  await announce(after);
}

// Where the workflow stands.

/** The last posted state: with its comment, and whether a human was told of it. Null where nothing was posted yet. */
function lastState(workflow, comments) {
  let last = null;
  for (const comment of comments) {
    if (isHuman(comment)) continue;
    const state = stateIn(comment);
    if (state) last = { state, comment, announced: comment.agent === null };
    else if (comment.agent !== null) last = { state: replayed(workflow, last, comment), comment, announced: false };
  }
  if (last) demandKnown(workflow, last.state);
  return last;
}

/** The state after a comment from before there were states: what follows from its sentinel. */
function replayed(workflow, last, { agent, body }) {
  const first = workflow.steps.find((step) => step.agent === agent);
  const before = last?.state ?? { ...unstarted(workflow), ...(first && { step: first.id }) };
  return stateAfter(workflow, before, agent, read(body, "engine"));
}

/** No agent runs on a state that is not of this workflow. */
function demandKnown(workflow, { workflow: name, step, next }) {
  if (name !== workflow.name) throw new Error(`the thread is one of workflow ${name}, not of ${workflow.name}`);
  if (!workflow.steps.some(({ id }) => id === step)) throw new Error(`the thread stands at step ${step}, which is unknown`);
  if (next !== null && !Object.hasOwn(workflow.agents, next)) throw new Error(`the thread waits for agent ${next}, who is unknown`);
}

function unstarted(workflow) {
  const [{ id: step, agent: next }] = workflow.steps;
  return {
    workflow: workflow.name,
    step,
    agent: null,
    next,
    called_by: null,
    status: "running",
    stop: null,
    dispatch: null,
    started_by: null,
    CONFIG_CALLBACK: null,
    consumed: { events: [], comments: [] },
  };
}

/** A workflow is started by a human's comment. A gate at its first step waits for another one. */
function outset(workflow, comment) {
  const state = unstarted(workflow);
  if (!comment || !isHuman(comment)) return { state: { ...state, status: "awaiting-human" }, comment: null };
  state.started_by = comment.author.name;
  if (!workflow.steps[0].human_gate) return { state, comment };
  const gated = { ...state, status: "awaiting-human", stop: "human_gate" };
  return { state: consuming(gated, null, comment), comment, announced: false };
}

// Whether anybody runs.

/** One event, one run: a human's comment answers a state that waits for one, the engine's own goes on with a state that runs. */
function isDue({ state, comment }, event, trigger) {
  if (!event) return state.status === "running";
  const { events, comments } = state.consumed;
  if (events.includes(event.id) || comments.includes(event.comment)) return false;
  if (comment === trigger) return state.status === "running";
  return isHuman(trigger) && state.status === "awaiting-human";
}

function consuming(state, event, comment) {
  const { events, comments } = state.consumed;
  const consumed = {
    events: event ? [...events, event.id] : events,
    comments: [...new Set([...comments, comment.id])],
  };
  return { ...state, consumed };
}

// A run, and what comes of it.

function promptsOf(workflow, state, comments) {
  const { next: agent, called_by, CONFIG_CALLBACK: callback, step } = state;
  const rules = "Work with your tools, decide by dispatch_next or call_agent what comes next, and end with `reply`.";
  return {
    system: `You work on an issue as ${agent}. ${rules}\n\n${teamSection({ agents: workflow.agents, agent, called_by, callback })}`,
    prompt: `The workflow ${workflow.name} stands at step ${step}. This is the thread so far.\n\n${transcript(comments)}`,
  };
}

/** What a run has decided: nothing if it failed, else what its tools recorded, else what it wrote. */
function decisionOf({ text, decision, failed }) {
  if (failed) return { config: null, diagnostic: null };
  return decision ? { config: decision, diagnostic: null } : read(text);
}

function stateAfter(workflow, before, agent, found) {
  const { step, called_by, CONFIG_CALLBACK: callback } = before;
  const outcome = decide({ workflow, step, agent, callback, called_by }, found);
  const { status, stop, dispatch, origin, reason } = outcome;
  const said = found.config?.dispatch?.status === dispatch ? found.config.dispatch : null; // Beside a call it may say something else.
  return {
    ...before,
    step: outcome.step,
    agent,
    next: outcome.next ?? waiting(workflow, outcome, agent),
    called_by: outcome.called_by,
    status,
    stop,
    dispatch: { ...said, status: dispatch, ...(reason !== null && { reason }), origin },
    CONFIG_CALLBACK: outcome.callback,
  };
}

/** Who runs when a human has answered: at a gate the agent of its step, else the one that asked. */
function waiting({ steps }, { status, stop, step }, agent) {
  if (status !== "awaiting-human") return null;
  return stop === "human_gate" ? steps.find(({ id }) => id === step).agent : agent;
}

/** The engine's own dispatch, as a sentinel records it: without its origin, which nobody can claim by writing it. */
function fallbackOf({ origin, ...dispatch }) {
  return dispatch;
}

/** Tell one human of a stop, once, in a comment of the engine's own. */
async function notify(thread, state, authors) {
  const mention = mentioned({ ...state, ...authors });
  if (mention !== null) await post(thread, null, bodyOf(noticeText(mention, state), stateLine(state)));
}
