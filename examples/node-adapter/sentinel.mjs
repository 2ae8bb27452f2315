// Sentinels: the one-line HTML comments that carry a decision through a thread.

import { demandDecision, readDecision } from "./decision.mjs";
import { piecesOf, scan } from "./markdown.mjs";

const MARKER = "AGENT_RUN_CONFIG";
const OPENER = /(?:<|&lt;)!--[ \t]+AGENT_RUN_CONFIG(?=[ \t{]|$)/g;
const CLOSER = "-->";
const ENGINE_LINE = /^<!-- (?:AGENT_RUN_CONFIG|WORKFLOW_STATE) /;
const NOTHING = { reading: "none", config: null, diagnostic: null };

/** What a text decides: of several sentinels the last one counts, readable or not; people decide nothing by writing one. */
export function read(text, author = "agent") {
  if (author === "human") return NOTHING;
  const parts = author === "engine" ? splitEngineLines(text) : [text];
  const last = parts.flatMap(scan).flatMap(sentinelsIn).at(-1);
  if (!last) return NOTHING;
  const { config, diagnostic } = last.diagnostic ? { config: null, diagnostic: last.diagnostic } : readDecision(last.payload);
  return { reading: config ? "config" : "diagnostic", config, diagnostic };
}

/** Write a decision. */
export function render(decision) {
  return engineLine(MARKER, demandDecision(decision));
}

/** Write a line of the engine's. What would end the comment or its line early, or mention somebody, is an escape in the JSON. */
export function engineLine(marker, value) {
  const json = JSON.stringify(value).replace(/[<>@\u0085\u2028\u2029]/g, escapeOf);
  return `<!-- ${marker} ${json} ${CLOSER}`;
}

function escapeOf(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The sentinels of a line: the `payload` of each, or the `diagnostic` that says why it has none. */
function sentinelsIn(line) {
  if (!line.text.includes(MARKER)) return [];
  const openers = [...visible(line).matchAll(OPENER)];
  const found = [];
  let [over, close] = [0, 0];
  for (const [index, { 0: opener, index: from }] of openers.entries()) {
    if (from < over) continue; // It stands in a string of the payload before it.
    const begin = from + opener.length;
    if (close !== -1 && close < begin) close = line.text.indexOf(CLOSER, begin);
    const next = openers[index + 1]?.index ?? Infinity;
    const payload = line.text.slice(begin, close);
    if (opener.startsWith("&")) {
      found.push({ diagnostic: "the comment is escaped as HTML" });
    } else if (close === -1 || (next < close && !isJson(payload))) {
      found.push({ diagnostic: "the comment does not end on its line" });
    } else {
      over = close + CLOSER.length;
      found.push({ payload });
    }
  }
  return found;
}

/** A line's text with all that is quoted blanked out, so that places stay what they are. */
function visible(line) {
  if (line.depth > 0 || line.indented) return "";
  return piecesOf(line).map(({ text, code }) => (code ? "`".repeat(text.length) : text)).join("");
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A posted comment in two: the engine's own lines at its end are read for themselves, so that no fence before them reaches in. */
export function splitEngineLines(text) {
  const lines = scan(text);
  const last = lines.flatMap((line, index) => (line.blank ? [] : [index])).slice(-2);
  while (last.length > 0 && !last.every((index) => ENGINE_LINE.test(lines[index].text))) last.shift();
  const cut = last[0] ?? lines.length;
  return [lines.slice(0, cut), lines.slice(cut)].map((part) => part.map((line) => line.text + line.end).join(""));
}
