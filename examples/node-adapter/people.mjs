// What people and agents are told: bodies that notify nobody, the one notice that does, and the team section of a prompt.

import { piecesOf, scan } from "./markdown.mjs";

// An underscore is a word character, but also the mark of emphasis: it shields a mention only behind a letter or digit.
const MENTION = /(?<![A-Za-z0-9@/.+]_*)(@|&#0*64;|&#x0*40;|&commat;)(?=[A-Za-z0-9])/gi;
const ENGINE_MARKER = /((?:<|&lt;)!--[ \t]*)(?=AGENT_RUN_CONFIG|WORKFLOW_STATE)/g;
const BROKEN = "$1\u200b";

/** An agent's text, fit to be posted: a space that nobody sees breaks its mentions, and what would pass for a line of the engine's. */
export function inert(text) {
  const posted = (piece) => (piece.code ? piece.text : quiet(piece.text));
  return scan(text).map((line) => piecesOf(line).map(posted).join("") + line.end).join("");
}

function quiet(prose) {
  return prose.replace(MENTION, BROKEN).replace(ENGINE_MARKER, BROKEN);
}

/** Who is told of a state: whoever started the workflow, wherever it stops; nobody while it runs. */
export function mentioned({ status, started_by, issue_author, trigger_author }) {
  return status === "running" ? null : started_by || issue_author || trigger_author || null;
}

const WHY = {
  hold: "It waits for your answer",
  human_gate: "It waits for your approval",
  terminal: "It has ended",
  terminate: "It was ended",
};

/** The text of a notice: one line, one mention. What would notify in the reason, an agent's word, is broken in code as well. */
export function noticeText(mention, { workflow, step, stop, dispatch }) {
  const reason = dispatch?.reason ? `: ${dispatch.reason.replace(/\s+/g, " ")}` : ".";
  return `@${mention} — ${quiet(`the workflow ${workflow} has stopped at step ${step}. ${WHY[stop]}${reason}`)}`;
}

/** The section of a system prompt that tells an agent of its team. */
export function teamSection({ agents, agent, called_by, callback }) {
  const mates = Object.entries(agents).filter(([name]) => name !== agent);
  return [
    "## Your Team",
    "",
    `You are ${agent}: ${agents[agent]?.role ?? "no role is given"}`,
    "",
    ...(mates.length > 0 ? ["Your teammates:", ...mates.map(([name, { role }]) => `- ${name}: ${role}`), ""] : []),
    "- Work outside your own tool scope must be delegated through the call_agent mechanism; @ mentions are for humans only.",
    "- When a teammate calls you, the engine's callback returns your answer to them: treat it as a conversation turn, not fire-and-forget.",
    ...(called_by === null ? [] : ["", caller(called_by, callback === agent ? null : callback)]),
  ].join("\n");
}

/** Who called; where the result goes is left out if it goes nowhere. */
function caller(name, callback) {
  return callback === null ? `You were called by ${name}.` : `You were called by ${name} — your result returns to ${callback}.`;
}
