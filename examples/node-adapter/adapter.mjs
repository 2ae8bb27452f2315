// The adapter: one request on each line of standard input, one answer on each line of standard output.

import { readDecision } from "./decision.mjs";
import { invoke } from "./engine.mjs";
import { inert, mentioned, teamSection } from "./people.mjs";
import { route } from "./routing.mjs";
import { read, render } from "./sentinel.mjs";

const PROTOCOL = 1;
const ABOUT = { name: "node-adapter", version: "1.0.0", language: "javascript" };

const OPERATIONS = {
  parse: ({ text, author }) => read(text, author),
  render: ({ config }) => ({ line: render(config) }),
  model: ({ json }) => {
    const { diagnostic } = readDecision(json);
    return { valid: diagnostic === null, diagnostic };
  },
  route,
  inert: ({ text }) => ({ body: inert(text) }),
  notice: (given) => ({ mentions: mentioned(given) }),
  team: (given) => ({ section: teamSection(given) }),
};

function start({ protocols }) {
  if (!protocols.includes(PROTOCOL)) throw new Error(`I speak version ${PROTOCOL} of the protocol alone`);
  return { ok: true, protocol: PROTOCOL, ...ABOUT, capabilities: [...Object.keys(OPERATIONS), "run"] };
}

/** Carry out a run: one invocation of the engine. That an agent failed is part of what it posts, and no failure of the run. */
async function run({ mode, seconds, ...given }) {
  if (mode !== "handoff") throw new Error(`I run hand-offs alone, and nothing in the mode ${mode}`);
  await invoke({ ...given, signal: AbortSignal.timeout(seconds * 1000) });
  return { exit_code: 0 };
}

async function answer(request) {
  const { cmd, input } = request;
  if (cmd === "start") return start(request);
  if (cmd === "run") return { ok: true, result: await run(request.run) };
  return Object.hasOwn(OPERATIONS, cmd) ? { ok: true, output: OPERATIONS[cmd](input) } : { ok: false, unsupported: true };
}

async function reply(line) {
  let seq = null;
  try {
    const request = JSON.parse(line);
    seq = request.seq ?? null;
    return request.cmd === "stop" ? null : { seq, ...(await answer(request)) };
  } catch (error) {
    return { seq, ok: false, error: { message: error.message || String(error) } };
  }
}

/** The lines of a stream, however long. They end at a line feed alone, as the protocol has it. */
async function* linesOf(stream) {
  let pieces = [];
  for await (const chunk of stream.setEncoding("utf8")) {
    const [first, ...more] = chunk.split("\n");
    pieces.push(first);
    for (const next of more) {
      yield pieces.join("");
      pieces = [next];
    }
  }
}

for await (const line of linesOf(process.stdin)) {
  const message = await reply(line);
  if (message === null) break;
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
