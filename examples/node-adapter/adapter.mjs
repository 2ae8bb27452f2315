// The adapter: one request on each line of standard input, one answer on each line of standard output.

import { readDecision } from "./decision.mjs";
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
  return { ok: true, protocol: PROTOCOL, ...ABOUT, capabilities: Object.keys(OPERATIONS) };
}

function answer(request) {
  const { cmd, input } = request;
  if (cmd === "start") return start(request);
  return Object.hasOwn(OPERATIONS, cmd) ? { ok: true, output: OPERATIONS[cmd](input) } : { ok: false, unsupported: true };
}

function reply(line) {
  let seq = null;
  try {
    const request = JSON.parse(line);
    seq = request.seq ?? null;
    return request.cmd === "stop" ? null : { seq, ...answer(request) };
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
  const message = reply(line);
  if (message === null) break;
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
