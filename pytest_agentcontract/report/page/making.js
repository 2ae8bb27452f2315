// Making elements: every text comes to the page as text, through textContent alone.

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== "" && child !== null && child !== undefined));
  return element;
};

const slug = (word) => word.replace(" (SHOULD)", "-should").replaceAll(" ", "-");

const badge = (word) => make("span", { class: `badge ${slug(word)}` }, word);

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// The data is read when it is first asked for: the page stands before that.
let known;
const data = () => (known ??= JSON.parse(document.getElementById("data").textContent));

const FIELDS = ["case", "wires", "status", "checks", "outcome", "why", "again", "run", "warnings"];

// The entries of one runtime, as objects that refer to what they share.
const entries = (runtime) =>
  data().found[runtime].map((row) => {
    const entry = Object.fromEntries(FIELDS.map((name, at) => [name, row[at]]));
    const { name, wires } = data().runtimes[runtime];
    return {
      ...entry,
      runtime: name,
      case: caseOf(entry.case),
      wires: entry.wires.map((at) => (at < 0 ? "" : wires[at])),
      checks: data().sets[entry.checks].map((at) => verdict(data().checks[at])),
      outcome: data().outcomes[entry.outcome],
      why: data().texts[entry.why],
      again: data().texts[entry.again],
      run: entry.run < 0 ? null : data().runs[entry.run],
      left: entry.run < 0,
      warnings: entry.warnings.map((at) => data().texts[at]),
    };
  });

const caseOf = (at) => {
  const { title, why, ...rest } = data().cases[at];
  return { ...rest, title: data().texts[title], why: data().texts[why] };
};

const verdict = ([requirement, level, status, ...said]) => {
  const [expected = "", observed = "", why = "", reason = ""] = said.map((at) => data().texts[at]);
  return { requirement, level, status, expected, observed, why, reason };
};
