/** What the endpoint made of a message, or why it made nothing of it. */
export type Verdict =
  | { readonly kind: 'delivered' }
  /** A 4xx about this very message: another one may pass. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | null }
  /** 410: the endpoint wants no more. */
  | { readonly kind: 'gone' }
  /** Our own network or configuration: not held against the endpoint. */
  | { readonly kind: 'not_sent' };

export interface Attempt {
  readonly verdict: Verdict;
  readonly status: number | null;
  readonly latencyMs: number;
  /** Why there was no answer. */
  readonly detail: string | null;
  /** The first 1 KiB of the answer. */
  readonly response: string | null;
}

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts messages to the public internet and nowhere else. Never throws: whatever happens is an attempt. */
export interface Sender {
  send(message: Message): Promise<Attempt>;
}

/** What an owner may not give as a URL; null when it is fine. */
export type UrlProblem = (url: string) => string | null;

export function verdictOf(status: number, retryAfterMs: number | null): Verdict {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return { kind: 'refused' };
  return { kind: 'failed', retryAfterMs };
}
