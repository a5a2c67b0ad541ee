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

/** The message of an error and its help, in one text. */
export const inWords = (cause: unknown): string => (cause instanceof ApiError ? [cause.message, cause.help].filter(Boolean).join(". ") : String(cause));

/** A query with a value for each name; a list gives several values, `undefined` none. */
export function query(values: Record<string, string | number | string[] | undefined>): string {
  const used = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) used.append(name, String(one));
  }
  return used.size ? `?${used}` : "";
}

export const jobStream = (job: string): string => `/api/jobs/${encodeURIComponent(job)}/events`;

async function call<T>(path: string, init?: RequestInit): Promise<T | null> {
  const answer = await fetch(path, init);
  if (answer.status === 304) return null;
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body as T;
  throw errorOf(answer, body);
}

function errorOf(answer: Response, body: { error?: { code?: string; message?: string; help?: string } } | null): ApiError {
  const error = body?.error;
  return new ApiError(error?.code ?? "page.answer", error?.message ?? `The server answered with status ${answer.status}.`, error?.help ?? null, answer.status);
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

/** The error of a stream that the server refuses for good; null if it is worth another try. */
async function refusalOf(address: string): Promise<ApiError | null> {
  const stop = new AbortController();
  try {
    const answer = await fetch(address, { signal: stop.signal });
    if (![401, 403, 404].includes(answer.status)) return null;
    return errorOf(answer, await answer.json().catch(() => null));
  } catch {
    return null;
  } finally {
    stop.abort();
  }
}

/**
 * Follows a stream of events to its last state, or until the returned function is called. After a lost connection it goes on with the event after the last one;
 * `gone` is called instead if the server has the stream no longer. A browser has six connections to a server for all its tabs, so a tab that is hidden gives its
 * connection back, except with `whileHidden`.
 */
export function openEvents<Event extends { kind: string; state?: unknown }>(
  path: string,
  on: { event(event: Event): void; connection(isOpen: boolean): void; gone(error: ApiError): void },
  { whileHidden = false } = {},
): () => void {
  let last = "";
  let timer = 0;
  let stream: EventSource | null = null;
  let isOver = false;
  const pause = () => {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  };
  const end = () => {
    isOver = true;
    pause();
    document.removeEventListener("visibilitychange", look);
  };
  const open = () => {
    pause();
    const address = last ? `${path}${path.includes("?") ? "&" : "?"}after=${last}` : path;
    const own = (stream = new EventSource(address));
    own.onopen = () => on.connection(true);
    own.onmessage = (message) => {
      last = message.lastEventId || last;
      const event = JSON.parse(message.data) as Event;
      if (event.kind === "state" && ["ended", "stopped", "failed"].includes(String(event.state))) end();
      on.event(event);
    };
    own.onerror = async () => {
      // The browser connects again by itself, except after an answer that is not a stream.
      const refusal = own.readyState === EventSource.CLOSED ? await refusalOf(address) : null;
      if (isOver || stream !== own) return;
      if (refusal) {
        end();
        on.gone(refusal);
        return;
      }
      on.connection(false);
      if (own.readyState === EventSource.CLOSED) timer = window.setTimeout(open, RETRY_AFTER);
    };
  };
  const look = () => {
    if (!document.hidden) open();
    else if (!whileHidden) pause();
  };
  if (whileHidden || !document.hidden) open();
  if (!whileHidden) document.addEventListener("visibilitychange", look);
  return end;
}
