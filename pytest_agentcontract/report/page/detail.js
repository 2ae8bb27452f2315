// What lies behind a cell: the cases that judged it, and one case whole. Shown in a dialog, addressed by the fragment.

const ORDER = ["error", "fail", "not-verified", "known", "should-not-met", "pass", "not-applicable"];
const WORDS = { known: "baselined" };
const dialog = document.getElementById("detail");

const address = (...parts) => `#at/${parts.map(encodeURIComponent).join("/")}`;

const follow = () => {
  const [first, ...parts] = location.hash.slice(1).split("/");
  if (first !== "at") return dialog.open ? dialog.close() : undefined;
  const [requirement, runtime, name, wire] = parts.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return "";
    }
  });
  const at = data().runtimes.findIndex((one) => one.name === runtime);
  const row = data().requirements.findIndex((one) => one.id === requirement);
  if (at < 0 || row < 0) return undefined;
  const entry = name && entries(at).find((one) => one.case.id === name && one.wires.includes(wire ?? ""));
  show(...(entry ? caseView(entry, row, wire) : cellView(at, row)));
  return undefined;
};

const show = (title, ...body) => {
  dialog.replaceChildren(
    make(
      "div",
      { class: "dialog-head" },
      make("h2", { id: "detail-title", tabindex: -1 }, title),
      make("button", { type: "button", class: "close", click: () => dialog.close(), "aria-label": "Close" }, "×"),
    ),
    make("div", { class: "dialog-body" }, body),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("detail-title").focus();
};

dialog.addEventListener("close", () => {
  if (location.hash.startsWith("#at/")) history.pushState(null, "", "#");
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
addEventListener("hashchange", follow);
addEventListener("popstate", follow);

const cellView = (at, row) => {
  const requirement = data().requirements[row];
  const runtime = data().runtimes[at].name;
  const found = entries(at).flatMap((entry) =>
    entry.checks.filter((check) => check.requirement === row).map((check) => ({ entry, check })),
  );
  const word = document.querySelector(`.matrix tr[data-row="${row}"]`)?.children[at + 1].textContent.trim() ?? "";
  const sorted = found.sort((one, other) => ORDER.indexOf(one.check.status) - ORDER.indexOf(other.check.status));
  return [
    [requirement.id, " · ", make("bdi", {}, runtime), " ", badge(word)],
    make(
      "p",
      { class: "sentence" },
      make("span", { class: `must ${requirement.level.toLowerCase()}` }, requirement.level),
      " ",
      requirement.text ?? "Known to the report alone.",
    ),
    requirement.source
      ? make(
          "p",
          { class: "source" },
          `Source: ${requirement.source}.`,
          requirement.reading ? ` An interpretation: ${requirement.reading}` : "",
        )
      : "",
    make("h3", {}, sorted.length ? `Judged in ${plural(sorted.length, "case")}` : "No case that judges it was run"),
    make(
      "ul",
      { class: "cases-list" },
      sorted.map(({ entry, check }) =>
        make(
          "li",
          {},
          make(
            "a",
            { href: address(requirement.id, runtime, entry.case.id, entry.wires[0]) },
            badge(check.status),
            make(
              "span",
              { class: "case-name" },
              make("bdi", {}, entry.case.id),
              entry.case.title ? make("span", { class: "title" }, entry.case.title) : "",
            ),
            make("span", { class: "wires" }, entry.wires.filter(Boolean).join(", ")),
          ),
          check.status === "pass"
            ? ""
            : make("p", { class: "sign" }, check.reason ? `baselined: ${check.reason}` : check.observed || check.why),
        ),
      ),
    ),
  ];
};

const caseView = (entry, row, wire) => {
  const requirement = data().requirements[row];
  const steps = entry.run ? (entry.run.exchanges ?? []) : (entry.case.steps ?? []);
  const hops = routeOf(entry, steps);
  return [
    [make("bdi", {}, entry.case.id), " ", badge(WORDS[entry.status] ?? entry.status)],
    make(
      "p",
      {},
      make(
        "a",
        { class: "back", href: address(requirement.id, entry.runtime) },
        `← ${requirement.id} on `,
        make("bdi", {}, entry.runtime),
      ),
      wire ? ` · ${entry.wires.filter(Boolean).join(", ")}` : "",
    ),
    entry.case.title
      ? make("p", { class: "sentence" }, make("b", {}, entry.case.title), ". ", entry.case.why ?? "")
      : make("p", { class: "source" }, "The text of this case does not ship with the version that made this page."),
    entry.why ? make("p", { class: "why" }, entry.why) : "",
    entry.warnings.map((warning) => make("p", { class: "note" }, warning)),
    make("h3", {}, "Verdicts"),
    make(
      "ul",
      { class: "verdict-list" },
      [...entry.checks].sort((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status)).map(verdictView),
    ),
    differences(entry),
    pictures(entry, steps),
    hops.length ? [make("h3", {}, "Hand-offs"), graph(hops)] : "",
    entry.run ? wireLog(entry.run) : "",
    make("h3", {}, "See it again"),
    make("pre", { class: "command", tabindex: 0 }, command(entry, wire)),
  ];
};

const command = (entry, wire = "") =>
  [
    ["{case}", entry.case.id.split("/").slice(1).join("/")],
    ["{runtime}", entry.runtime],
    ["{wire}", wire],
  ].reduce((text, [place, part]) => text.replaceAll(place, () => part), entry.again);
