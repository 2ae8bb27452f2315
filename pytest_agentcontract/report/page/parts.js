// The parts of one case: verdicts, expected and observed, the run, the wire log.

const verdictView = (check) =>
  make(
    "li",
    {},
    make(
      "div",
      { class: "verdict-head" },
      badge(check.status),
      make("b", {}, data().requirements[check.requirement].id),
      make("span", { class: `must ${check.level.toLowerCase()}` }, check.level),
      check.status === "pass" ? make("span", { class: "text" }, data().requirements[check.requirement].text ?? "") : "",
    ),
    check.status === "pass"
      ? ""
      : make(
          "dl",
          { class: "said" },
          [
            ["expected", check.expected],
            ["observed", check.observed],
            ["because", check.why],
            ["baselined", check.reason],
          ]
            .filter(([, text]) => text)
            .map(([word, text]) => make("div", { class: word }, make("dt", {}, word), make("dd", {}, text))),
        ),
  );

const said = (value) => (value === undefined ? "nothing" : JSON.stringify(value));

// Where what came differs from what the case asks for, place by place; only places that the case names.
const compared = (asked, came, place = "") => {
  const walks =
    asked !== null &&
    typeof asked === "object" &&
    came !== null &&
    typeof came === "object" &&
    Array.isArray(asked) === Array.isArray(came);
  if (walks) return Object.keys(asked).flatMap((name) => compared(asked[name], came[name], `${place}/${name}`));
  return [{ place: place || "/", asked, came, same: said(asked) === said(came) }];
};

const differences = (entry) => {
  const asked = entry.case.expects;
  if (!asked || entry.case.asked || !entry.outcome) return entry.case.asked ? vectorView(entry) : "";
  const rows = compared(asked, entry.outcome);
  const other = rows.filter((row) => !row.same).length;
  return [
    make("h3", {}, "Expected and observed"),
    make(
      "p",
      { class: "source" },
      other
        ? `${other} of ${plural(rows.length, "place")} came out otherwise than the case names. The verdicts above say whether that weighs.`
        : `All ${plural(rows.length, "place")} that the case names came out as named.`,
    ),
    make(
      "div",
      { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Expected and observed" },
      make(
        "table",
        { class: "compared" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ["place", "expected", "observed"].map((word) => make("th", { scope: "col" }, word)),
          ),
        ),
        make(
          "tbody",
          {},
          rows.map((row) =>
            make(
              "tr",
              { class: row.same ? "same" : "other" },
              make("th", { scope: "row" }, make("code", {}, row.place)),
              make("td", {}, make("code", {}, said(row.asked))),
              make("td", {}, row.same ? "as expected" : make("code", {}, said(row.came))),
            ),
          ),
        ),
      ),
    ),
  ];
};

const vectorView = (entry) => [
  make("h3", {}, "Asked"),
  make("pre", { tabindex: 0 }, entry.case.asked),
  make("h3", {}, "What the answer must hold"),
  make("pre", { tabindex: 0 }, JSON.stringify(entry.case.expects, null, 1)),
  entry.outcome === null
    ? ""
    : [make("h3", {}, "Answered"), make("pre", { tabindex: 0 }, JSON.stringify(entry.outcome, null, 1))],
];

const pictures = (entry, steps) => {
  if (!steps.length && !entry.run) return "";
  const end = make("div", { class: "card ends" }, make("b", {}, "Result "), ending(entry));
  return [
    make("h3", {}, entry.run ? "What happened" : "What the model was to say"),
    entry.run
      ? ""
      : make(
          "p",
          { class: "source" },
          entry.left
            ? "The log of this run did not fit into the page; this is the script of the case."
            : entry.status === "pass"
              ? "This is the script of the case; the log of a run that passes is not kept."
              : "This is the script of the case; no log of the run was kept.",
        ),
    entry.run?.left_out
      ? make("p", { class: "source" }, `${plural(entry.run.left_out, "request")} in the middle of the run left out.`)
      : "",
    swimLanes(steps, { prompt: entry.case.prompt, end, seen: Boolean(entry.run) }),
  ];
};

const ending = (entry) => {
  const run = entry.run?.run;
  const parts = [entry.outcome?.status, entry.outcome && "value" in entry.outcome ? said(entry.outcome.value) : ""]
    .filter(Boolean)
    .join(": ");
  if (!run) return parts || "none was read";
  const code = run.exit === null ? "" : `, exit code ${run.exit}`;
  return `${parts || run.account} (${run.ended} after ${(run.seconds ?? 0).toFixed(2)} s${code}, by its own account ${run.account})`;
};

const OUTPUTS = {
  problem: "No result was read",
  document: "Result document",
  stdout: "End of stdout",
  stderr: "End of stderr",
};

const wireLog = (run) => {
  const lines = (run.exchanges ?? []).flatMap((one, at) => [
    `#${at + 1} ${(one.at ?? 0).toFixed(2)}s ${one.agent ?? "nobody"} asks: ${one.asks ?? ""}`,
    `   -> ${[one.kind + (one.turn ? ` ${one.turn}` : ""), one.again && "again", one.undelivered && "not delivered", one.fault].filter(Boolean).join(", ")}: ` +
      ([
        one.thinks && `(thinks) ${one.thinks}`,
        one.says && JSON.stringify(one.says),
        ...(one.calls ?? []).map(([tool, text]) => `${tool}(${text})`),
      ]
        .filter(Boolean)
        .join(" + ") ||
        one.note ||
        "no content"),
  ]);
  const missed = (run.missed ?? []).map((path) => `${path}: nothing is served here`);
  const outputs = Object.keys(OUTPUTS).filter((name) => run.run[name]);
  return [
    make("h3", {}, "Wire log"),
    make(
      "pre",
      { class: "log", tabindex: 0 },
      [...lines, ...missed].join("\n") || "the runtime asked the model nothing",
    ),
    outputs.map((name) =>
      make(
        "details",
        {},
        make("summary", {}, OUTPUTS[name]),
        make("pre", { tabindex: 0 }, run.run[name]),
      ),
    ),
  ];
};
