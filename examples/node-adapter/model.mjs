// The model: one request, one answer, on either of two wire formats. A conversation is kept in the form of its wire.

const TRIES = 4;
const PAUSE_MS = 50;
const MOST_TOKENS = 4096;

const MESSAGES = {
  address: ({ ANTHROPIC_BASE_URL: base }) => `${base}/v1/messages`,
  headers: ({ ANTHROPIC_API_KEY: key }) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),

  request: ({ model, system, tools, messages }) => ({
    model,
    system,
    messages,
    max_tokens: MOST_TOKENS,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  }),

  answer({ content, stop_reason }) {
    const calls = content.filter(({ type }) => type === "tool_use");
    return {
      message: { role: "assistant", content: content.length > 0 ? content : [{ type: "text", text: "(nothing)" }] },
      calls: calls.map(({ id, name, input }) => ({ id, name, given: input })),
      cut: stop_reason === "max_tokens",
    };
  },

  results: (results) => [
    {
      role: "user",
      content: results.map(({ id, text, failed }) => ({ type: "tool_result", tool_use_id: id, content: text, is_error: failed })),
    },
  ],
};

const CHAT = {
  address: ({ OPENAI_BASE_URL: base }) => `${base}/chat/completions`,
  headers: ({ OPENAI_API_KEY: key }) => ({ authorization: `Bearer ${key}` }),

  request: ({ model, system, tools, messages }) => ({
    model,
    messages: [{ role: "system", content: system }, ...messages],
    tools: tools.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } })),
  }),

  answer({ choices: [{ message, finish_reason }] }) {
    const { content, tool_calls: calls = [] } = message;
    return {
      message: { role: "assistant", content: content ?? (calls.length > 0 ? null : "(nothing)"), tool_calls: message.tool_calls },
      calls: calls.map(({ id, function: { name, arguments: json } }) => ({ id, name, given: objectIn(json) })),
      cut: finish_reason === "length",
    };
  },

  results: (results) =>
    results.map(({ id, text, failed }) => ({ role: "tool", tool_call_id: id, content: failed ? `Error: ${text}` : text })),
};

const WIRES = { "anthropic-messages": MESSAGES, "openai-chat": CHAT };

function objectIn(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // The tool says what is wrong with it.
  }
}

/**
 * A conversation with the model that bears a name. `ask()` gives the calls of the next answer, and whether it was `cut` at its limit of
 * tokens; `say(text)` and `report(results)` go on with it.
 */
export function conversation({ wire, env, signal }, { model, system, tools }) {
  const { address, headers, request, answer, results } = WIRES[wire];
  const messages = [];
  return {
    say: (text) => messages.push({ role: "user", content: text }),
    report: (found) => messages.push(...results(found)),
    async ask() {
      const body = request({ model, system, tools, messages });
      const { message, ...rest } = answer(await post(address(env), headers(env), body, signal));
      messages.push(message);
      return rest;
    },
  };
}

/** Post JSON and read JSON. What may pass is tried again: a connection that fails, a server that is busy or broken. */
async function post(url, headers, body, signal) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await once(url, headers, body, signal);
    } catch (error) {
      if (error.lasting || signal.aborted || tried === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** tried));
    }
  }
}

async function once(url, headers, body, signal) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close", ...headers },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response.json();
  const lasting = response.status < 500 && response.status !== 429;
  throw Object.assign(new Error(`the model answered ${response.status}`), { lasting });
}
