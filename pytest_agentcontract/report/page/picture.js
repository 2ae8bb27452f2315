// Pictures of one case: who asked the model, in which order, and who handed control to whom.

const KINDS = {
  turn: "turn",
  poll: "kept waiting",
  beyond: "after the script",
  fault: "fault",
  side: "side call",
  withheld: "withheld",
  unexpected: "unexpected",
  ambiguous: "ambiguous",
  budget: "budget used up",
};
const LANES = 6;

const lanesOf = (steps) => [...new Set(steps.map((step) => step.agent || "nobody"))];

// Lanes are agents, rows are requests in order of arrival: a list, so that it reads without a picture, too.
const swimLanes = (steps, { prompt, end, seen }) => {
  const lanes = lanesOf(steps);
  const columns = Math.max(1, Math.min(lanes.length, LANES));
  const row = (lane, card) =>
    make(
      "li",
      { class: "row" },
      lanes
        .slice(0, columns)
        .map((_, at) =>
          make(
            "div",
            at === lane ? { class: "lane here" } : { class: "lane", "aria-hidden": "true" },
            at === lane ? card : "",
          ),
        ),
    );
  const rows = steps.map((step) => {
    const lane = Math.min(lanes.indexOf(step.agent || "nobody"), columns - 1);
    return row(lane, stepCard(step, seen, lanes.length > 1));
  });
  const head = make(
    "div",
    { class: "heads", "aria-hidden": "true" },
    lanes
      .slice(0, columns)
      .map((name, at) =>
        make("div", { class: `head a${at}` }, at === LANES - 1 && lanes.length > LANES ? "other agents" : name),
      ),
  );
  const list = make(
    "ol",
    { class: "steps" },
    prompt
      ? make(
          "li",
          { class: "row whole" },
          make("div", { class: "card ends" }, make("b", {}, "The caller asks "), make("q", {}, prompt)),
        )
      : "",
    rows,
    end ? make("li", { class: "row whole" }, end) : "",
  );
  const lanesBox = make(
    "div",
    { class: `lanes n${columns}`, tabindex: 0, role: "group", "aria-label": "Requests in order" },
    head,
    list,
  );
  return lanesBox;
};

const stepCard = (step, seen, named) => {
  const flags = [
    step.nudge && ["nudge", "nudged"],
    step.fault && ["fault", step.fault],
    step.again && ["again", "same request again"],
    step.undelivered && ["fault", "not delivered"],
    step.repeat && ["again", "for ever"],
    !["turn", "poll", "fault"].includes(step.kind) && ["fault", KINDS[step.kind]],
  ].filter(Boolean);
  const title = step.turn ? `${step.kind === "fault" ? "attempt at turn" : "turn"} ${step.turn}` : KINDS[step.kind];
  return make(
    "div",
    { class: `card k-${step.kind}` },
    make(
      "div",
      { class: "card-head" },
      named ? make("span", { class: "who" }, step.agent || "nobody") : "",
      make("span", {}, title),
      seen && step.at !== undefined ? make("span", { class: "at" }, `${step.at.toFixed(2)} s`) : "",
      flags.map(([kind, text]) => make("span", { class: `flag ${kind}` }, text)),
    ),
    step.asks ? make("p", { class: "asks" }, make("span", { class: "arrow" }, "asks with "), step.asks) : "",
    step.thinks ? make("p", { class: "thinks" }, make("span", { class: "arrow" }, "thinks "), step.thinks) : "",
    step.says ? make("p", { class: "says" }, make("span", { class: "arrow" }, "is told "), step.says) : "",
    (step.calls || []).map(([tool, text]) =>
      make(
        "p",
        { class: "call" },
        make("span", { class: "arrow" }, "is to call "),
        make("code", {}, make("b", {}, tool), "(", text, ")"),
      ),
    ),
    step.says || step.thinks || step.calls || step.fault || step.note
      ? ""
      : make("p", { class: "says" }, make("span", { class: "arrow" }, "is told nothing")),
    step.note && step.note !== step.fault ? make("p", { class: "note" }, step.note) : "",
  );
};

// Who runs after whom: from the posted decisions of a workflow, else from the order at the model's seat.
const routeOf = (entry, steps) => {
  const posted = entry.outcome && Array.isArray(entry.outcome.route) ? entry.outcome.route : [];
  if (posted.length) {
    return posted.map((one) => ({
      from: String(one.agent ?? "nobody"),
      to: one.next ? String(one.next) : one.status === "ended" ? "the end" : "a human",
      how: [one.dispatch, one.callback && `returns to ${one.callback}`].filter(Boolean).join(", ") || "no decision",
    }));
  }
  const order = steps.map((step) => step.agent || "nobody").filter((name, at, all) => name !== all[at - 1]);
  return order.slice(1).map((to, at) => ({ from: order[at], to, how: "asks next" }));
};

const WIDE = 132,
  MIDDLE = 92;

// Agents on a line, hand-offs as numbered arcs: forward above it, back below it.
const graph = (hops) => {
  const names = [...new Set(hops.flatMap((hop) => [hop.from, hop.to]))];
  const x = (name) => WIDE * (names.indexOf(name) + 0.5);
  const width = WIDE * names.length;
  const arcs = hops.map((hop, at) =>
    arc(
      x(hop.from),
      x(hop.to),
      at,
      hops.filter((one, before) => before < at && one.from === hop.from && one.to === hop.to).length,
    ),
  );
  const nodes = names.map((name) =>
    draw(
      "g",
      { class: "node" },
      draw("rect", { x: x(name) - 50, y: MIDDLE - 15, width: 100, height: 30, rx: 15 }),
      draw(
        "text",
        { x: x(name), y: MIDDLE + 4, "text-anchor": "middle" },
        name.length > 14 ? `${name.slice(0, 13)}…` : name,
      ),
    ),
  );
  const words = hops.map((hop, at) => `${at + 1}. ${hop.from} to ${hop.to} (${hop.how})`);
  const head = draw(
    "marker",
    { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    draw("path", { d: "M0 0 8 4 0 8z" }),
  );
  return make(
    "div",
    { class: "route" },
    make(
      "div",
      { class: "graph", tabindex: 0, role: "group", "aria-label": "Graph of hand-offs" },
      draw(
        "svg",
        {
          viewBox: `0 0 ${width} ${2 * MIDDLE}`,
          width,
          height: 2 * MIDDLE,
          role: "img",
          "aria-label": words.join("; "),
        },
        draw("defs", {}, head),
        arcs,
        nodes,
      ),
    ),
    make(
      "ol",
      { class: "hops" },
      hops.map((hop) => make("li", {}, make("b", {}, hop.from), " → ", make("b", {}, hop.to), ` (${hop.how})`)),
    ),
  );
};

const arc = (from, to, at, again) => {
  const side = to > from ? -1 : 1;
  const [start, end] =
    from === to ? [from - 22, from + 22] : [from + 14 * Math.sign(to - from), to - 14 * Math.sign(to - from)];
  const edge = MIDDLE + 15 * side;
  const lift = Math.min(56, 24 + Math.abs(to - from) / 10) + 14 * again;
  const peak = edge + side * lift;
  const label = { x: (start + end) / 2, y: edge + side * lift * 0.75 };
  return draw(
    "g",
    { class: "arc" },
    draw("path", { d: `M${start} ${edge}C${start} ${peak} ${end} ${peak} ${end} ${edge}`, "marker-end": "url(#head)" }),
    draw("circle", { cx: label.x, cy: label.y, r: 9 }),
    draw("text", { x: label.x, y: label.y + 4, "text-anchor": "middle" }, String(at + 1)),
  );
};
