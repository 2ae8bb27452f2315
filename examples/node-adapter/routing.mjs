// Routing: an agent has run; who is next? The rules are asked in order, and the first that answers decides.

import { read } from "./sentinel.mjs";

const NO_DECISION = "no-action default: agent emitted no decision";
const PRECEDENCE = [call, stop, destination, callback, edge];

/** Decide a route from what a run left behind: its text, where the workflow stands, and the return address. */
export function route({ text, failed = false, ...standing }) {
  return decide(standing, failed ? { config: null, diagnostic: null } : read(text));
}

/** Decide a route from what was decided, or why it can't be read, or neither. */
export function decide({ workflow, step, agent, callback: registered, called_by }, { config, diagnostic }) {
  const facts = { workflow, step, agent, called_by, registered, back: registered === agent ? null : registered };
  if (!config) return noDecision(facts, diagnostic);
  Object.assign(facts, config);
  for (const rule of PRECEDENCE) {
    const outcome = rule(facts);
    if (outcome) return outcome;
  }
  return lost(facts, `no-action default: ${step === null ? "no step to advance from" : `step '${step}' leads nowhere`}`);
}

// The rules, highest first. Each gives an outcome, or null where it has nothing to say.

function call({ function_call: called, ...facts }) {
  if (!called) return null;
  const { agent_name: callee, callback: wanted } = called;
  const address = wanted ?? facts.agent;
  const unknown = [callee, address].find((name) => !knows(facts, name));
  if (unknown !== undefined) return lost(facts, `unknown agent '${unknown}'`);
  return outcome(facts, { next: callee, called_by: facts.agent, callback: address === callee ? null : address });
}

function stop(facts) {
  const { agent, called_by, registered } = facts;
  switch (facts.dispatch?.status) {
    case "hold":
      return outcome(facts, { status: "awaiting-human", stop: "hold", dispatch: "hold", callback: registered, called_by });
    case "loop":
      return outcome(facts, { next: agent, dispatch: "loop", callback: registered, called_by });
    case "terminate":
      return outcome(facts, { status: "ended", stop: "terminate", dispatch: "terminate" });
    default:
      return null;
  }
}

function destination({ task, dispatch = {}, ...facts }) {
  const { workflow: name, step, task_hint: hint } = dispatch;
  const named = [
    task !== undefined && stepOfAgent(facts, task),
    hint !== undefined && stepOfAgent(facts, hint),
    step !== undefined && stepById(facts, step),
  ].filter(Boolean);
  if (name !== undefined && name !== facts.workflow.name) return lost(facts, `unknown workflow '${name}'`);
  if (name !== undefined && named.length === 0) named.push({ step: facts.workflow.steps[0] });
  const problem = named.find((target) => target.problem);
  if (problem) return lost(facts, problem.problem);
  if (new Set(named.map((target) => target.step)).size > 1) {
    return lost(facts, `destinations differ: ${named.map((target) => target.as).join(" and ")}`);
  }
  return named.length === 0 ? null : enter({ ...facts, dispatch }, named[0]);
}

function callback(facts) {
  if (facts.back === null) return null;
  return knows(facts, facts.back) ? outcome(facts, { next: facts.back }) : lost(facts, `unknown agent '${facts.back}'`);
}

function edge(facts) {
  if (facts.step === null) return null;
  const { step, problem } = stepById(facts, facts.step);
  if (problem) return lost(facts, problem);
  if (step.terminal) return outcome(facts, { status: "ended", stop: "terminal" });
  return step.next == null ? null : enter(facts, stepById(facts, step.next));
}

// Where a rule leads.

/** Move on to a step. At a gate a human is awaited before its agent runs. */
function enter(facts, { step, problem }) {
  if (problem) return lost(facts, problem);
  if (!knows(facts, step.agent)) return lost(facts, `unknown agent '${step.agent}'`);
  const where = step.human_gate ? { status: "awaiting-human", stop: "human_gate" } : { next: step.agent };
  return outcome(facts, { step: step.id, ...where });
}

/** No decision was made, or none that can be read: back to the caller, or to a human where there is none. */
function noDecision(facts, diagnostic) {
  const unread = diagnostic ? ` and the AGENT_RUN_CONFIG sentinel could not be parsed (${diagnostic})` : "";
  const reason = NO_DECISION + unread;
  if (facts.back === null) return lost(facts, reason);
  if (!knows(facts, facts.back)) return lost(facts, `${reason}; unknown agent '${facts.back}'`);
  return outcome(facts, { next: facts.back, origin: "engine_fallback", reason: `${reason}; returning to caller '${facts.back}'` });
}

/** The engine holds, since it can't tell where to go. The return address stays for the one who is asked again. */
function lost(facts, reason) {
  const { back, called_by } = facts;
  const held = { status: "awaiting-human", stop: "hold", dispatch: "hold", callback: back, called_by };
  return outcome(facts, { ...held, origin: "engine_fallback", reason });
}

/** An outcome: what the rule says, over what holds for most of them. A callback ends with it unless the rule keeps one. */
function outcome({ step, dispatch }, decided) {
  const usual = { next: null, step, status: "running", stop: null, dispatch: "advance", origin: "agent", reason: dispatch?.reason ?? null };
  const result = { ...usual, callback: null, called_by: null, ...decided };
  return { ...result, notice: result.status !== "running" };
}

// Names match exactly, and a name that the workflow does not hold is a problem that says so.

const knows = ({ workflow }, agent) => Object.hasOwn(workflow.agents, agent);

function stepById({ workflow }, id) {
  const step = workflow.steps.find((candidate) => candidate.id === id);
  return step ? { step, as: `step '${id}'` } : { problem: `unknown step '${id}'` };
}

function stepOfAgent({ workflow }, agent) {
  const step = workflow.steps.find((candidate) => candidate.agent === agent);
  return step ? { step, as: `agent '${agent}'` } : { problem: `no step of an agent '${agent}'` };
}
