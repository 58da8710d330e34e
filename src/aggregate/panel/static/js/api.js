// Speak with the server: JSON both ways, and a stream of events.

/** What the server refused, in its own sentence; `status` is HTTP's, 0 when it did not answer. */
export class ServerError extends Error {
  constructor(sentence, status, body = {}) {
    super(sentence);
    this.status = status;
    this.body = body;
  }
}

/** GET /api/<path> with these parameters (null and undefined are left out); returns the parsed answer. */
export async function get(path, parameters = {}, { signal } = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  const query = given.map(([name, value]) => `${name}=${encoded(String(value))}`).join("&");
  return bodyOf(await request(`/api/${path}${query && `?${query}`}`, { signal }), "json");
}

/** GET /api/<path>; returns the answer as it is. */
export async function getText(path) {
  return bodyOf(await request(`/api/${path}`, {}), "text");
}

/** Percent-encode a text; a byte of a file's name that is no Unicode comes as half a surrogate pair, and goes as itself. */
function encoded(text) {
  const byte = (half) => `%${(half.charCodeAt(0) - 0xdc00).toString(16)}`;
  const one = (character) => (/^[\udc80-\udcff]$/.test(character) ? byte(character) : encodeURIComponent(/^[\ud800-\udfff]$/.test(character) ? "\ufffd" : character));
  return Array.from(text, one).join("");
}

/** POST a JSON body to /api/<path>; returns the parsed answer. */
export async function post(path, body = {}, options = {}) {
  return bodyOf(await postRaw(path, body, options), "json");
}

/** POST and return the response itself, for an answer that streams. */
export function postRaw(path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json", "X-Aggregate": "1" };
  return request(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function request(address, options) {
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin", ...options });
  } catch (failure) {
    throw unanswered(failure);
  }
  if (response.ok) return response;
  throw await refusal(response);
}

// A server that ends breaks off an answer that has begun.
async function bodyOf(response, form) {
  try {
    return await response[form]();
  } catch (failure) {
    throw unanswered(failure);
  }
}

function unanswered(failure) {
  if (failure.name === "AbortError") return failure;
  return new ServerError("The panel's server does not answer: is `aggregate panel` still running?", 0);
}

async function refusal(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // Not JSON: the status is all there is to say.
  }
  return new ServerError(body.error ?? `The server answered ${response.status} ${response.statusText}.`, response.status, body);
}

/** Yield the `data` of each server-sent event of a response's body, parsed as JSON. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { done, value } = await reader.read().catch((failure) => {
      throw unanswered(failure);
    });
    if (done) return;
    pending += value;
    const blocks = pending.split("\n\n");
    pending = blocks.pop();
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== null) yield event;
    }
  }
}

function parseEvent(block) {
  const lines = block.split("\n");
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
  if (data.length === 0) return null;
  const name = lines.find((line) => line.startsWith("event:"));
  return { event: name ? name.slice(6).trim() : "message", ...JSON.parse(data.join("\n")) };
}

const SHORTEST_WAIT = 250; // ms before the first try to connect again: a restart takes about this long
const LONGEST_WAIT = 4000; // ms between tries at most: nobody likes to wait longer for a page to come back

/**
 * Listen to the server's events until the page closes, connecting again when the stream breaks. A page that nobody
 * sees does not listen: a browser gives all pages of one address six connections, and a seventh page would wait.
 * @param {(event: Object) => void} onEvent
 * @param {(connected: boolean) => void} onConnection
 */
export function listen(onEvent, onConnection) {
  let wait = SHORTEST_WAIT;
  let source = null;
  const close = () => {
    source?.close();
    source = null;
  };
  const connect = () => {
    if (source || document.hidden) return;
    source = new EventSource("/api/events");
    let isAnswered = false;
    source.onopen = () => {
      wait = SHORTEST_WAIT;
      isAnswered = true;
      onConnection(true);
    };
    source.addEventListener("change", (message) => onEvent(JSON.parse(message.data)));
    source.onerror = () => {
      close();
      if (!isAnswered) onConnection(false); // a stream that only breaks is there again at once
      setTimeout(connect, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    };
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : connect()));
  connect();
}
