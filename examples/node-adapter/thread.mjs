// The thread: a folder of comments, one JSON file each, in the order of their names. The engine's own end in its lines.

import { link, readdir, readFile, unlink, writeFile } from "node:fs/promises";
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
  for (let number = (await namesIn(folder)).length + 1; ; number += 1) {
    const name = String(number).padStart(4, "0");
    const comment = { id: `engine-${name}`, author: ENGINE, agent, body, created: new Date().toISOString() };
    await writeFile(draft, `${JSON.stringify(comment, null, 2)}\n`);
    try {
      await link(draft, join(folder, `${name}.json`));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    } finally {
      await unlink(draft);
    }
  }
}

async function namesIn(folder) {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
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
