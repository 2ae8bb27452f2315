// What lies behind a cell: the cases that judged it, and one case whole. Shown in a dialog, addressed by the fragment.

const ORDER = ["error", "fail", "not-verified", "known", "should-not-met", "pass", "not-applicable"];
const WORDS = { known: "baselined" };
const dialog = document.getElementById("detail");
let opener = null;

const address = (...parts) => `#at/${parts.map(encodeURIComponent).join("/")}`;

const follow = () => {
  const [first, ...parts] = location.hash.slice(1).split("/");
  if (first !== "at") return dialog.open ? dialog.close() : undefined;
  const [requirement, runtime, name, wire] = parts.map((part) => { try { return decodeURIComponent(part); } catch { return ""; } });
  const at = data().runtimes.findIndex((one) => one.name === runtime);
  const row = data().requirements.findIndex((one) => one.id === requirement);
  if (at < 0 || row < 0) return undefined;
  const entry = name && entries(at).find((one) => one.case.id === name && one.wires.includes(wire ?? ""));
  show(...(entry ? caseView(entry, row, wire) : cellView(at, row)));
  return undefined;
};

const show = (title, ...body) => {
  dialog.replaceChildren(
    make("div", { class: "dialog-head" }, make("h2", { id: "detail-title", tabindex: -1 }, title),
      make("button", { type: "button", class: "close", click: () => dialog.close(), "aria-label": "Close" }, "×")),
    make("div", { class: "dialog-body" }, body));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("detail-title").focus();
};

dialog.addEventListener("close", () => {
  if (location.hash.startsWith("#at/")) history.pushState(null, "", "#");
  opener?.focus();
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
addEventListener("hashchange", follow);
addEventListener("popstate", follow);

const cellView = (at, row) => {
  const requirement = data().requirements[row];
  const runtime = data().runtimes[at].name;
  const found = entries(at).flatMap((entry) =>
    entry.checks.filter((check) => check.requirement === row).map((check) => ({ entry, check })));
  const word = document.querySelector(`.matrix tr[data-row="${row}"]`)?.children[at + 1].textContent.trim() ?? "";
  const sorted = found.sort((one, other) => ORDER.indexOf(one.check.status) - ORDER.indexOf(other.check.status));
  return [
    [requirement.id, " · ", make("bdi", {}, runtime), " ", badge(word)],
    make("p", { class: "sentence" }, make("span", { class: `must ${requirement.level.toLowerCase()}` }, requirement.level), " ", requirement.text ?? "Known to the report alone."),
    requirement.source ? make("p", { class: "source" }, `Source: ${requirement.source}.`, requirement.reading ? ` An interpretation: ${requirement.reading}` : "") : "",
    make("h3", {}, sorted.length ? `Judged in ${plural(sorted.length, "case")}` : "No case that judges it was run"),
    make("ul", { class: "cases-list" }, sorted.map(({ entry, check }) => make("li", {},
      make("a", { href: address(requirement.id, runtime, entry.case.id, entry.wires[0]) },
        badge(check.status), make("span", { class: "case-name" }, make("bdi", {}, entry.case.id), entry.case.title ? make("span", { class: "title" }, entry.case.title) : ""),
        make("span", { class: "wires" }, entry.wires.filter(Boolean).join(", "))),
      check.status === "pass" ? "" : make("p", { class: "sign" }, check.reason ? `baselined: ${check.reason}` : check.observed || check.why)))),
  ];
};

const caseView = (entry, row, wire) => {
  const requirement = data().requirements[row];
  const steps = entry.run ? entry.run.exchanges ?? [] : entry.case.steps ?? [];
  const hops = routeOf(entry, steps);
  return [
    [make("bdi", {}, entry.case.id), " ", badge(WORDS[entry.status] ?? entry.status)],
    make("p", {}, make("a", { class: "back", href: address(requirement.id, entry.runtime) }, `← ${requirement.id} on `, make("bdi", {}, entry.runtime)), wire ? ` · ${entry.wires.filter(Boolean).join(", ")}` : ""),
    entry.case.title ? make("p", { class: "sentence" }, make("b", {}, entry.case.title), ". ", entry.case.why ?? "") : make("p", { class: "source" }, "The text of this case does not ship with the version that made this page."),
    entry.why ? make("p", { class: "why" }, entry.why) : "",
    entry.warnings.map((warning) => make("p", { class: "note" }, warning)),
    make("h3", {}, "Verdicts"), make("ul", { class: "verdict-list" }, [...entry.checks].sort((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status)).map(verdictView)),
    differences(entry),
    pictures(entry, steps),
    hops.length ? [make("h3", {}, "Hand-offs"), graph(hops)] : "",
    entry.run ? wireLog(entry.run) : "",
    make("h3", {}, "See it again"), make("pre", { class: "command", tabindex: 0 }, command(entry, wire)),
  ];
};

const command = (entry, wire = "") =>
  [["{case}", entry.case.id.split("/").slice(1).join("/")], ["{runtime}", entry.runtime], ["{wire}", wire]]
    .reduce((text, [place, part]) => text.replaceAll(place, () => part), entry.again);

const verdictView = (check) => make("li", {},
  make("div", { class: "verdict-head" }, badge(check.status), make("b", {}, data().requirements[check.requirement].id),
    make("span", { class: `must ${check.level.toLowerCase()}` }, check.level),
    check.status === "pass" ? make("span", { class: "text" }, data().requirements[check.requirement].text ?? "") : ""),
  check.status === "pass" ? "" : make("dl", { class: "said" },
    [["expected", check.expected], ["observed", check.observed], ["because", check.why], ["baselined", check.reason]]
      .filter(([, text]) => text).map(([word, text]) => make("div", { class: word }, make("dt", {}, word), make("dd", {}, text)))));

const said = (value) => (value === undefined ? "nothing" : JSON.stringify(value));

// Where what came differs from what the case asks for, place by place; only places that the case names.
const compared = (asked, came, place = "") => {
  const walks = asked !== null && typeof asked === "object" && came !== null && typeof came === "object" && Array.isArray(asked) === Array.isArray(came);
  if (walks) return Object.keys(asked).flatMap((name) => compared(asked[name], came[name], `${place}/${name}`));
  return [{ place: place || "/", asked, came, same: said(asked) === said(came) }];
};

const differences = (entry) => {
  const asked = entry.case.expects;
  if (!asked || entry.case.asked || !entry.outcome) return entry.case.asked ? vectorView(entry) : "";
  const rows = compared(asked, entry.outcome);
  const other = rows.filter((row) => !row.same).length;
  return [make("h3", {}, "Expected and observed"),
    make("p", { class: "source" }, other ? `${plural(other, "place")} of ${rows.length} came out in other words than the case names. The verdicts above say whether that weighs.` : `All ${plural(rows.length, "place")} that the case names came out as named.`),
    make("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Expected and observed" }, make("table", { class: "compared" },
      make("thead", {}, make("tr", {}, ["place", "expected", "observed"].map((word) => make("th", { scope: "col" }, word)))),
      make("tbody", {}, rows.map((row) => make("tr", { class: row.same ? "same" : "other" },
        make("th", { scope: "row" }, make("code", {}, row.place)), make("td", {}, make("code", {}, said(row.asked))),
        make("td", {}, row.same ? "as expected" : make("code", {}, said(row.came))))))))];
};

const vectorView = (entry) => [make("h3", {}, "Asked"), make("pre", { tabindex: 0 }, entry.case.asked),
  make("h3", {}, "What the answer must hold"), make("pre", { tabindex: 0 }, JSON.stringify(entry.case.expects, null, 1)),
  entry.outcome === null ? "" : [make("h3", {}, "Answered"), make("pre", { tabindex: 0 }, JSON.stringify(entry.outcome, null, 1))]];

const pictures = (entry, steps) => {
  if (!steps.length && !entry.run) return "";
  const end = make("div", { class: "card ends" }, make("b", {}, "Result "), ending(entry));
  return [make("h3", {}, entry.run ? "What happened" : "What the model was to say"),
    entry.run ? "" : make("p", { class: "source" }, entry.left ? "The log of this run did not fit into the page; this is the script of the case." :
      entry.status === "pass" ? "This is the script of the case; the log of a run that passes is not kept." : "This is the script of the case; no log of the run was kept."),
    entry.run?.left_out ? make("p", { class: "source" }, `${plural(entry.run.left_out, "request")} in the middle of the run left out.`) : "",
    swimLanes(steps, { prompt: entry.case.prompt, end, seen: Boolean(entry.run) })];
};

const ending = (entry) => {
  const run = entry.run?.run;
  const parts = [entry.outcome?.status, entry.outcome && "value" in entry.outcome ? said(entry.outcome.value) : ""].filter(Boolean).join(": ");
  if (!run) return parts || "none was read";
  const code = run.exit === null ? "" : `, exit code ${run.exit}`;
  return `${parts || run.account} (${run.ended} after ${(run.seconds ?? 0).toFixed(2)} s${code}, by its own account ${run.account})`;
};

const wireLog = (run) => {
  const lines = (run.exchanges ?? []).flatMap((one, at) => [
    `#${at + 1} ${(one.at ?? 0).toFixed(2)}s ${one.agent ?? "nobody"} asks: ${one.asks ?? ""}`,
    `   -> ${[one.kind + (one.turn ? ` ${one.turn}` : ""), one.again && "again", one.undelivered && "not delivered", one.fault].filter(Boolean).join(", ")}: ` +
      ([one.thinks && `(thinks) ${one.thinks}`, one.says && JSON.stringify(one.says), ...(one.calls ?? []).map(([tool, text]) => `${tool}(${text})`)].filter(Boolean).join(" + ") || one.note || "no content"),
  ]);
  const missed = (run.missed ?? []).map((path) => `${path}: nothing is served here`);
  const outputs = ["problem", "stdout", "stderr"].filter((name) => run.run[name]);
  return [make("h3", {}, "Wire log"),
    make("pre", { class: "log", tabindex: 0 }, [...lines, ...missed].join("\n") || "the runtime asked the model nothing"),
    outputs.map((name) => make("details", {}, make("summary", {}, name === "problem" ? "No result was read" : `End of ${name}`), make("pre", { tabindex: 0 }, run.run[name])))];
};
