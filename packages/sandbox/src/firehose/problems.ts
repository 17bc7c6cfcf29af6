import { Refusal } from '../http/exchange.ts';
import type { FirehoseKnobs } from './knobs.ts';

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

export function invalid(
  field: string,
  messages: readonly string[],
  reason: FirehoseKnobs['refusals'] = 'in_message',
): Refusal {
  const message = reason === 'in_message' ? messages.join(' ') : 'The given data was invalid.';
  return new Refusal(422, { message, errors: { [field]: messages } });
}

export function tooManyRequests(retryAfterMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new Refusal(429, { message: 'Too many requests.' }, { 'retry-after': String(seconds) });
}
