import { Refusal } from '../http/exchange.ts';

/** The bodies follow the rest of the API; their exact form is not documented (firehose.md §8). */
export function unauthorized(): Refusal {
  return new Refusal(401, { message: 'Unauthenticated.' });
}

export function outOfCredit(): Refusal {
  return new Refusal(402, { message: 'The organization is out of credit.' });
}

export function notFound(what: string): Refusal {
  return new Refusal(404, { message: `${what} not found.` });
}

export function invalid(field: string, ...messages: string[]): Refusal {
  return new Refusal(422, { message: messages.join(' '), errors: { [field]: messages } });
}

export function tooManyRequests(retryAfterMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new Refusal(429, { message: 'Too many requests.' }, { 'retry-after': String(seconds) });
}
