// An agent: it talks to its model and uses its tools until it has replied. Its decision it makes by the tools of the control plane.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { isObject, problemOf } from "./decision.mjs";
import { conversation } from "./model.mjs";

const MOST_STEPS = 30;
const MOST_NUDGES = 3;
const NUDGE = "You have not replied. Call `reply` with your report; text alone is read by nobody.";

const text = (description) => ({ type: "string", description });
const takes = (properties, ...required) => ({ type: "object", properties, required, additionalProperties: false });

const TOOLS = [
  {
    name: "reply",
    description: "Hand over your report and end your run. It is posted on the thread.",
    parameters: takes({ value: text("The report, in Markdown.") }, "value"),
  },
  {
    name: "dispatch_next",
    description: "Say how your run ends: advance the workflow, hold for a human, loop to run again, or terminate the workflow.",
    parameters: takes(
      {
        status: { type: "string", enum: ["advance", "hold", "loop", "terminate"] },
        reason: text("Why."),
        step: text("The step to advance to, if it is not the next one."),
        task_hint: text("The agent to advance to, by its name."),
        workflow: text("The workflow that is meant."),
      },
      "status",
    ),
  },
  {
    name: "call_agent",
    description: "Run a teammate next. Its answer comes back to you, or to the agent that you name as callback.",
    parameters: takes({ agent_name: text("The teammate."), callback: text("Who gets the answer; by default you.") }, "agent_name"),
  },
  {
    name: "touch",
    description: "Make an empty file.",
    parameters: takes({ path: text("The file.") }, "path"),
  },
];

/** Run an agent to its end: `{text, decision, failed}`. The decision is null where no tool of the control plane recorded one. */
export async function runAgent(run, { name, system, prompt }) {
  const desk = { workdir: run.workdir, reply: null, decision: {} };
  const model = conversation(run, { model: name, system, tools: TOOLS });
  model.say(prompt);
  const why = await work(desk, model).catch((error) => error.message);
  if (desk.reply === null) return { text: `The run of ${name} failed: ${why}.`, decision: null, failed: true };
  return { text: desk.reply, decision: Object.keys(desk.decision).length > 0 ? desk.decision : null, failed: false };
}

/** Ask the model until it has replied, within bounds; says why it stopped. */
async function work(desk, model) {
  let nudges = 0;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { calls, cut } = await model.ask();
    if (calls.length === 0) {
      if (nudges === MOST_NUDGES) return `it was asked for its reply ${MOST_NUDGES} times`;
      nudges += 1;
      model.say(NUDGE);
      continue;
    }
    const results = [];
    for (const call of calls) results.push(await use(desk, call, cut));
    if (desk.reply !== null) return "it has replied";
    model.report(results);
  }
  return `it took ${MOST_STEPS} steps without a reply`;
}

/** Carry out one call; what is wrong with it is said to the model, which may call again. */
async function use(desk, { id, name, given }, cut) {
  try {
    if (cut) throw new Error("your answer was cut off, so this call was not carried out");
    if (!Object.hasOwn(USES, name)) throw new Error(`there is no tool "${name}"`);
    if (!isObject(given)) throw new Error("the arguments must be a JSON object");
    return { id, text: await USES[name](desk, given), failed: false };
  } catch (error) {
    return { id, text: error.message, failed: true };
  }
}

const USES = {
  reply(desk, { value }) {
    if (value === undefined) throw new Error("value is missing");
    if (desk.reply !== null) throw new Error("you have replied before, and the first reply counts");
    desk.reply = typeof value === "string" ? value : JSON.stringify(value);
    return "received";
  },

  dispatch_next: (desk, given) => record(desk, "dispatch", given),

  call_agent: (desk, given) => record(desk, "function_call", { function: "call_agent", ...given }),

  async touch({ workdir }, { path }) {
    if (typeof path !== "string") throw new Error("path must be a string");
    await writeFile(resolve(workdir, path), "", { flag: "a" });
    return "done";
  },
};

/** Record a decision. Whether the names in it lead anywhere the engine finds out, and tells a human. */
function record(desk, action, given) {
  const problem = problemOf({ [action]: given });
  if (problem) throw new Error(problem);
  if (Object.hasOwn(desk.decision, action)) throw new Error("you have decided this before, and the first call counts");
  desk.decision[action] = given;
  return "recorded; it takes effect when you have replied";
}
