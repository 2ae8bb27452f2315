// The decision of an agent: the JSON of a sentinel, held to its model. A check gives null, or says what is wrong and where.

const text = (value, path) => (typeof value === "string" ? null : `${path} must be a string, not ${show(value)}`);

const name = (value, path) => text(value, path) ?? (value === "" ? `${path} must not be empty` : null);

const orNull = (check) => (value, path) => (value === null ? null : check(value, path));

const oneOf = (...choices) => (value, path) =>
  choices.includes(value) ? null : `${path} must be ${choices.map((choice) => `"${choice}"`).join(" or ")}, not ${show(value)}`;

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const object = (fields, required) => (value, path) => {
  const at = (key) => (path ? `${path}.${key}` : key);
  if (!isObject(value)) return `${path || "the payload"} must be an object, not ${show(value)}`;
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${at(missing)} is missing`;
  for (const [key, member] of Object.entries(value)) {
    const problem = Object.hasOwn(fields, key) ? fields[key](member, at(key)) : `${at(shorten(key))} is no known key`;
    if (problem) return problem;
  }
  return null;
};

const PAYLOAD = object(
  {
    task: name,
    dispatch: object(
      { status: oneOf("advance", "hold", "loop", "terminate"), reason: text, task_hint: name, workflow: name, step: name },
      ["status"],
    ),
    function_call: object(
      { function: oneOf("call_agent"), agent_name: name, callback: orNull(name) },
      ["function", "agent_name"],
    ),
  },
  [],
);

/** A value as a diagnostic names it: short, whatever it is. */
function show(value) {
  if (Array.isArray(value)) return "an array";
  if (isObject(value)) return "an object";
  return shorten(JSON.stringify(value));
}

function shorten(word) {
  return word.length > 60 ? `${word.slice(0, 60)}…` : word;
}

/** What is wrong with a payload, or null: its shape, then the two invariants of the contract. */
export function problemOf(payload) {
  const problem = PAYLOAD(payload, "");
  if (problem) return problem;
  const actions = Object.keys(payload);
  if (actions.length === 0) return "an action is missing: one of task, dispatch and function_call";
  if (actions.includes("task") && actions.includes("function_call")) return "task and function_call exclude each other";
  return null;
}

/** Read a payload: `{config, diagnostic}`, one of which is null. */
export function readDecision(json) {
  let payload;
  try {
    payload = JSON.parse(json);
  } catch (error) {
    const found = json.trim() === "" ? "there is no payload" : `the payload is no JSON: ${shorten(error.message)}`;
    return { config: null, diagnostic: found };
  }
  const diagnostic = problemOf(payload) ?? duplicateIn(json);
  return { config: diagnostic ? null : payload, diagnostic };
}

/** What is wrong with a valid JSON text if a key stands twice in an object of it: readers would differ in what it says. */
function duplicateIn(json) {
  const [token, colon, open] = [/["{}[\]]/g, /\s*:/y, []];
  for (let found; (found = token.exec(json)); ) {
    if ("{[".includes(found[0])) open.push(new Set());
    if ("}]".includes(found[0])) open.pop();
    if (found[0] !== '"') continue;
    token.lastIndex = colon.lastIndex = endOfString(json, found.index);
    if (!colon.test(json)) continue;
    const key = JSON.parse(json.slice(found.index, token.lastIndex));
    if (open.at(-1).has(key)) return `${key} stands twice in one object`;
    open.at(-1).add(key);
  }
  return null;
}

function endOfString(json, begin) {
  let at = begin + 1;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Make sure that a value is a decision, or say why it is none. */
export function demandDecision(value) {
  const problem = problemOf(value);
  if (problem) throw new Error(`no valid decision: ${problem}`);
  return value;
}
