// What of a Markdown text is prose, and what is code or quotation. One pass over the lines, linear in the length of the text.

const LINE = /([^\r\n]*)(\r\n?|\n|$)/g;
const QUOTE = /^ {0,3}>[ \t]?/;
const ITEM = /^(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)/;
const ALONE = /^(?:#{1,6}(?:[ \t]|$)|<!--|\||[-=_*][-=_* \t]*$)/;
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * The lines of a text. Each holds its `text` and the line break that ends it (`end`), and says whether it is `code` (of a fenced or an
 * indented block), how many quotations it stands in (`depth`), whether it is `indented` by four columns, and where its code `spans` are.
 */
export function scan(text) {
  let place = newPlace(0);
  const lines = [];
  for (const { 1: line, 2: end } of text.matchAll(LINE)) {
    const { depth, rest } = unquote(line, place.fence ? place.depth : Infinity);
    if (depth !== place.depth) place = newPlace(depth);
    lines.push(classify({ text: line, end, depth, spans: [] }, rest, place));
  }
  for (const paragraph of paragraphs(lines)) markSpans(paragraph);
  return lines;
}

/** Where the scan is: in which fence, how far in the text of a list item begins, and whether a paragraph is open. */
function newPlace(depth) {
  return { depth, fence: null, list: 0, prose: false };
}

function unquote(text, most) {
  let depth = 0;
  let rest = text;
  for (let mark; depth < most && (mark = rest.match(QUOTE)); depth += 1) rest = rest.slice(mark[0].length);
  return { depth, rest };
}

function classify(line, content, place) {
  const blanks = content.match(/^[ \t]*/)[0];
  line.rest = content.slice(blanks.length);
  line.blank = line.rest === "";
  line.indent = width(blanks);
  line.indented = line.indent >= 4;
  line.alone = ALONE.test(line.rest);
  line.marker = line.rest.match(ITEM)?.[0] ?? "";
  line.code = inFence(line, place) || inBlock(line, place);
  if (!line.code && !line.blank) enter(line, place);
  place.prose = !line.blank && !line.code;
  return line;
}

/** The column that a run of blanks leads to: a tab goes on to the next multiple of four. */
function width(blanks, from = 0) {
  let column = from;
  for (const blank of blanks) column += blank === "\t" ? 4 - (column % 4) : 1;
  return column;
}

/** Whether a fence that was opened before still holds the line; the line that closes it belongs to it. */
function inFence({ blank, indent, rest }, place) {
  const { fence } = place;
  if (fence === null) return false;
  const left = !blank && indent < fence.column; // The list item is over, and the fence with it.
  const closed = indent < fence.column + 4 && rest.startsWith(fence.run) && /^(`+|~+)[ \t]*$/.test(rest);
  if (left || closed) place.fence = null;
  return !left;
}

/** Whether an indented block holds the line. It can't interrupt a paragraph, and counts from where a list item's text begins. */
function inBlock({ blank, indent }, place) {
  return !place.prose && !blank && indent >= place.list + 4;
}

/** Take in what a line of prose begins: a list item, a fence. */
function enter(line, place) {
  const { rest, indent, marker } = line;
  if (indent < place.list) place.list = 0;
  if (marker) place.list = width(marker, indent);
  const run = rest.slice(marker.length).match(FENCE)?.[1];
  if (run && (marker || indent < place.list + 4)) {
    place.fence = { run, column: place.list };
    line.code = true;
  }
}

/** Neighbouring lines of prose between which a code span may reach. */
function* paragraphs(lines) {
  let paragraph = [];
  for (const line of lines) {
    if (paragraph.length > 0 && !goesOn(paragraph.at(-1), line)) {
      yield paragraph;
      paragraph = [];
    }
    if (!line.blank && !line.code) paragraph.push(line);
  }
  if (paragraph.length > 0) yield paragraph;
}

/** Whether a line goes on with the paragraph of the one before, as it may also where it leaves out the marks of a quotation. */
function goesOn(before, line) {
  return !line.blank && !line.code && !line.alone && !line.marker && !before.alone && line.depth <= before.depth;
}

function markSpans(paragraph) {
  if (!paragraph.some(({ text }) => text.includes("`"))) return;
  const spans = codeSpans(paragraph.map((line) => line.text).join("\n"));
  let [offset, at] = [0, 0];
  for (const line of paragraph) {
    const end = offset + line.text.length;
    for (; at < spans.length && spans[at].from < end; at += 1) {
      line.spans.push({ from: Math.max(spans[at].from, offset) - offset, to: Math.min(spans[at].to, end) - offset });
      if (spans[at].to > end) break; // It reaches into the next line.
    }
    offset = end + 1;
  }
}

/** Code spans: a run of backticks pairs with the next one of its length, unless a backslash takes its meaning. */
function codeSpans(text) {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: run, index }) => ({ from: index, to: index + run.length }));
  const later = new Map();
  for (const [index, run] of [...runs.entries()].reverse()) {
    run.partner = later.get(run.to - run.from);
    later.set(run.to - run.from, index);
  }
  const spans = [];
  for (let index = 0; index < runs.length; index += 1) {
    const { from, partner } = runs[index];
    if (partner === undefined || escaped(text, from)) continue;
    spans.push({ from, to: runs[partner].to });
    index = partner;
  }
  return spans;
}

function escaped(text, index) {
  let first = index;
  while (text[first - 1] === "\\") first -= 1;
  return (index - first) % 2 === 1;
}

/** A line in pieces, one after the other: prose, and code between it. */
export function piecesOf({ text, code, spans }) {
  if (code) return [{ text, code }];
  const pieces = [];
  let at = 0;
  for (const { from, to } of spans) {
    pieces.push({ text: text.slice(at, from), code: false }, { text: text.slice(from, to), code: true });
    at = to;
  }
  return [...pieces, { text: text.slice(at), code: false }];
}
