// The matrix: filters, search, the keyboard, and cells that open.

const form = document.getElementById("tools");
const table = document.querySelector(".matrix");
const rows = [...table.querySelectorAll("tr[data-level]")];
const fields = form.elements;

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
rows.forEach((row, at) => {
  row.dataset.row = at;
});

const picked = (name) =>
  [...form.querySelectorAll(`input[name="${name}"]`)].filter((box) => box.checked).map((box) => box.value);

// What a row is found by: its own text, and the cases that judge it, which are known once the data is read.
let texts = null;
const searchable = () => {
  if (texts) return texts;
  texts = rows.map((row) => `${row.cells[0].textContent} ${row.parentElement.dataset.group}`);
  const { sets, checks, found } = data();
  for (const [name, list] of found.flat().map((entry) => [caseOf(entry[0]), sets[entry[3]]]))
    for (const check of list) {
      const words = `${name.id} ${name.title}`;
      if (!texts[checks[check][0]].includes(words)) texts[checks[check][0]] += ` ${words}`;
    }
  texts = texts.map((text) => text.toLowerCase());
  return texts;
};

const filter = () => {
  const words = fields.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = picked("verdict");
  const chosen = new Set(picked("runtime").map(Number));
  const visible = rows.map((row, at) => {
    const fits =
      (!fields.level.value || row.dataset.level === fields.level.value) &&
      (!fields.group.value || row.parentElement.dataset.group === fields.group.value) &&
      (!verdicts.length || [...chosen].some((column) => verdicts.includes(row.cells[column + 1].className))) &&
      (!words.length || words.every((word) => searchable()[at].includes(word)));
    row.hidden = !fits;
    return fits;
  });
  for (const row of table.rows)
    for (const cell of [...row.cells].slice(1)) cell.hidden = !chosen.has(cell.cellIndex - 1);
  for (const body of table.tBodies) body.hidden = ![...body.rows].slice(1).some((row) => !row.hidden);
  table.dataset.verdicts = verdicts.length ? "some" : "";
  for (const row of rows)
    for (const cell of [...row.cells].slice(1))
      cell.toggleAttribute("data-off", verdicts.length > 0 && !verdicts.includes(cell.className));
  const count = visible.filter(Boolean).length;
  document.getElementById("count").textContent = `${count} of ${plural(rows.length, "requirement")}`;
  document.getElementById("chosen").textContent = ` (${chosen.size} of ${fields.runtime.length ?? 1})`;
  document.getElementById("nothing").hidden = count > 0 && chosen.size > 0;
  hold(cells()[0]);
};

// One stop for the Tab key; from there the arrow keys move, Home and End within the row.
const cells = () =>
  rows
    .filter((row) => !row.hidden)
    .flatMap((row) => [...row.cells].slice(1).filter((cell) => !cell.hidden))
    .map((cell) => cell.firstElementChild);
let held = null;
const hold = (link) => {
  if (held) held.tabIndex = -1;
  held = link ?? null;
  if (held) held.tabIndex = 0;
};

const step = (cell, key) => {
  const row = cell.parentElement;
  const columns = [...row.cells].slice(1).filter((one) => !one.hidden);
  const lines = rows.filter((one) => !one.hidden);
  const at = columns.indexOf(cell),
    line = lines.indexOf(row);
  return {
    ArrowRight: columns[at + 1],
    ArrowLeft: columns[at - 1],
    Home: columns[0],
    End: columns.at(-1),
    ArrowDown: lines[line + 1]?.cells[cell.cellIndex],
    ArrowUp: lines[line - 1]?.cells[cell.cellIndex],
  }[key];
};

table.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td");
  const next = cell && !event.ctrlKey && !event.metaKey && !event.altKey && step(cell, event.key);
  if (!next) return;
  event.preventDefault();
  hold(next.firstElementChild);
  held.focus();
});

table.addEventListener("click", (event) => {
  const cell = event.target.closest("td");
  const link = cell?.querySelector("a");
  if (!link) return;
  event.preventDefault();
  hold(link);
  const { id } = data().requirements[Number(cell.parentElement.dataset.row)];
  location.hash = address(id, data().runtimes[cell.cellIndex - 1].name);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || dialog.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  fields.search.focus();
});

form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
for (const link of table.querySelectorAll("td a")) link.tabIndex = -1;
filter();
follow();
