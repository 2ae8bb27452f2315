// The thread: a folder of comments, one JSON file each, in the order of the numbers in their names. The engine's own end in its lines.

import { link, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { engineLine, splitEngineLines } from "./sentinel.mjs";

const STATE = "WORKFLOW_STATE";
const STATE_LINE = new RegExp(`<!--[ \\t]+${STATE}[ \\t]+(.*?)-->[ \\t]*(?:[\\r\\n]|$)`);
const STATUSES = ["running", "awaiting-human", "ended"];
const ENGINE = { name: "engine", kind: "engine" };

export const isHuman = (comment) => comment.author.kind === "human";

export async function readJson(path) {
  return JSON.parse(await readFile(path, "utf8"));
}

export async function readThread(folder) {
  return Promise.all((await namesIn(folder)).map((name) => readJson(join(folder, name))));
}

/** Post a comment of the engine's, whole or not at all: it appears after all others, and no other engine's is written over. */
export async function post(folder, agent, body) {
  const draft = join(folder, `.${process.pid}.draft`);
  for (let number = numberIn((await namesIn(folder)).at(-1) ?? "0") + 1n; ; number += 1n) {
    const name = String(number).padStart(4, "0");
    const comment = { id: `engine-${name}`, author: ENGINE, agent, body, created: new Date().toISOString() };
    try {
      await writeFile(draft, `${JSON.stringify(comment, null, 2)}\n`);
      await link(draft, join(folder, `${name}.json`));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
}

async function namesIn(folder) {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort(byNumber);
}

/** Nine comes before ten, whatever noughts there are; a name without a number counts as 0. */
function byNumber(one, other) {
  const [first, second] = [numberIn(one), numberIn(other)];
  if (first !== second) return first < second ? -1 : 1;
  return one < other ? -1 : 1;
}

function numberIn(name) {
  return BigInt(name.match(/[0-9]+/)?.[0] ?? 0);
}

/** The body of a comment: its text, and below it the engine's lines. */
export function bodyOf(text, ...lines) {
  return [...(text === "" ? [] : [text, ""]), ...lines].join("\n");
}

export function stateLine(state) {
  return engineLine(STATE, state);
}

/** The state that an engine comment ends in; null where it is of the time before there were states. */
export function stateIn(comment) {
  const json = splitEngineLines(comment.body)[1].match(STATE_LINE)?.[1];
  if (json === undefined) return null;
  const state = readState(json);
  if (!STATUSES.includes(state?.status)) throw new Error(`the state in comment ${comment.id} can't be read`);
  return state;
}

function readState(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** The thread as its next agent reads it: who wrote what, without the engine's lines and notices. */
export function transcript(comments) {
  const told = comments.filter((comment) => isHuman(comment) || comment.agent !== null);
  return told.map((comment) => `--- ${comment.agent ?? comment.author.name} wrote:\n\n${textOf(comment)}`).join("\n\n");
}

function textOf(comment) {
  return (isHuman(comment) ? comment.body : splitEngineLines(comment.body)[0]).trim();
}
