// Calls of the server.

/** An answer that is an error, with what the server says of it. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly help: string | null,
    readonly status: number,
  ) {
    super(message);
  }
}

/** A query with a value for each name; a list gives several values, `undefined` none. */
export function query(values: Record<string, string | number | string[] | undefined>): string {
  const used = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) used.append(name, String(one));
  }
  return used.size ? `?${used}` : "";
}

async function call<T>(path: string, init?: RequestInit): Promise<T | null> {
  const answer = await fetch(path, init);
  if (answer.status === 304) return null;
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body as T;
  const error = body?.error;
  throw new ApiError(error?.code ?? "page.answer", error?.message ?? `The server answered with status ${answer.status}.`, error?.help ?? null, answer.status);
}

/** Null if the server says that nothing changed (304). */
export const get = <T>(path: string): Promise<T | null> => call<T>(path);

export async function post<T>(path: string, body: object): Promise<T> {
  const answer = await call<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (answer === null) throw new ApiError("page.answer", "The server gave no answer.", null, 304);
  return answer;
}

/** Milliseconds before a closed stream is opened again. */
const RETRY_AFTER = 1500;

/** Follows a stream of events to its last state, or until the returned function is called. After a lost connection it goes on with the event after the last one. */
export function openEvents<Event extends { kind: string; state?: unknown }>(path: string, on: { event(event: Event): void; connection(isOpen: boolean): void }): () => void {
  let last = "";
  let timer = 0;
  let stream: EventSource;
  const open = () => {
    stream = new EventSource(last ? `${path}${path.includes("?") ? "&" : "?"}after=${last}` : path);
    stream.onopen = () => on.connection(true);
    stream.onmessage = (message) => {
      last = message.lastEventId || last;
      const event = JSON.parse(message.data) as Event;
      if (event.kind === "state" && ["ended", "stopped", "failed"].includes(String(event.state))) stream.close();
      on.event(event);
    };
    stream.onerror = () => {
      on.connection(false);
      // The browser connects again by itself, except after an answer with an error.
      if (stream.readyState === EventSource.CLOSED) timer = window.setTimeout(open, RETRY_AFTER);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    stream.close();
  };
}
