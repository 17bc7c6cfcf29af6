import { createHash, createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Match, Removal } from '@earshot/sdk';
import { usageFailure } from './failure.ts';
import { version } from './version.ts';

/** Stands in for the id of a webhook. */
const webhookId = 'whk_listen';
const prefix = 'whsec_';
const answerWithinMs = 15_000;
const firstRetryMs = 1_000;
const retryMsMax = 10_000;

export interface Delivery {
  readonly message_id: string;
  readonly attempt: number;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly latency_ms: number;
  readonly message: string | null;
}

interface Forwarding {
  readonly url: URL;
  readonly secret: string;
  readonly signal: AbortSignal;
  /** Called after each attempt. */
  readonly onAttempt: (delivery: Delivery) => void;
}

/**
 * Posts the message of a webhook, signed according to Standard Webhooks. Like a webhook, it repeats the same bytes with the
 * same id until the receiver accepts them, but sooner. It skips messages that the receiver refuses (4xx). Throws the reason
 * of the signal.
 */
export async function forward(
  { url, secret, signal, onAttempt }: Forwarding,
  content: { readonly matches: readonly Match[]; readonly removed?: readonly Removal[] },
): Promise<void> {
  const body = JSON.stringify({ type: 'matches', webhook_id: webhookId, ...content });
  const id = `msg_${createHash('sha256').update(body).digest('base64url').slice(0, 22)}`;
  for (let attempt = 1; ; attempt++) {
    const answer = await post(url, { body, headers: signedHeaders(id, body, secret) }, signal);
    onAttempt({ message_id: id, attempt, ...answer });
    if (isOver(answer.status)) return;
    await sleep(Math.min(retryMsMax, firstRetryMs * 2 ** (attempt - 1)), undefined, { signal });
  }
}

function isOver(status: number | null): boolean {
  if (status === null || status === 408 || status === 429) return false;
  return (status >= 200 && status < 300) || (status >= 400 && status < 500);
}

/** Does not follow redirects, like webhooks. */
async function post(
  url: URL,
  { headers, body }: { readonly headers: Record<string, string>; readonly body: string },
  signal: AbortSignal,
): Promise<Pick<Delivery, 'status' | 'latency_ms' | 'message'>> {
  const startedAt = performance.now();
  const latency = () => Math.round(performance.now() - startedAt);
  const tooLate = AbortSignal.timeout(answerWithinMs);
  try {
    const ends = AbortSignal.any([signal, tooLate]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ends });
    await response.body?.cancel();
    return { status: response.status, latency_ms: latency(), message: null };
  } catch (error) {
    signal.throwIfAborted();
    const message = tooLate.aborted ? 'no answer in time' : reasonOf(error);
    return { status: null, latency_ms: latency(), message };
  }
}

/** The cause of a `fetch` error has the reason, or one reason for each address of the host. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code || (cause instanceof Error && cause.message) || 'the connection failed';
}

function signedHeaders(id: string, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': `earshot/${version} (listen)`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

export const newSecret = (): string => prefix + randomBytes(32).toString('base64');

/** Throws a usage failure unless it is a Standard Webhooks secret: the prefix, then 24 to 64 bytes in base64. */
export function readSecret(text: string): string {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded) return text;
  throw usageFailure('takes a webhook signing secret: whsec_ and 24 to 64 bytes in base64.');
}

/**
 * Allows only this machine unless `isRemoteAllowed`, because a mistyped address must not get the matches of an account. For
 * receivers on other machines, there are webhooks.
 */
export function readTarget(text: string, isRemoteAllowed: boolean): URL {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username)
    throw usageFailure(`--forward-to takes a URL such as http://localhost:3000/hook, not "${text}".`);
  if (isRemoteAllowed || isLoopback(url.hostname)) return url;
  throw usageFailure(
    `--forward-to takes a URL on this machine, but ${url.hostname} is another one. Add --allow-remote, or create a webhook: earshot webhooks create.`,
  );
}

/** Needs a hostname that the URL parser has normalised. */
function isLoopback(hostname: string): boolean {
  return /^(?:.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^\[::1\]$/.test(hostname);
}
