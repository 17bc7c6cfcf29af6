import type { Answers, Match, Notice, Removal } from './contract-types.ts';

export type WebhookMessage =
  | {
      readonly type: 'matches';
      readonly webhook_id: string;
      /** `truncated`: the match was too large for a message and comes without `payload.raw`. */
      readonly matches: readonly (Match & { readonly truncated?: true })[];
      /** Matches that were taken back: delete what you keep of them. Absent when there are none. */
      readonly removed?: readonly Removal[];
    }
  /** Only with `events: ["notices"]`: as it was raised, and again when it is resolved. */
  | { readonly type: 'notice'; readonly webhook_id: string; readonly notice: Notice }
  | DigestMessage
  | { readonly type: 'test'; readonly webhook_id: string };

/** An issue of a digest. Titles, texts, authors and URLs in it were written by strangers. */
export interface DigestMessage {
  readonly type: 'digest';
  readonly webhook_id: string;
  readonly digest_id: string;
  readonly name: string;
  /** Counts the issues of the digest. */
  readonly number: number;
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  readonly total: number;
  /** There are more than were counted. */
  readonly total_is_minimum: boolean;
  readonly counts: readonly {
    readonly rule_id: string;
    readonly rule_name: string;
    readonly platform: Match['platform'];
    readonly matches: number;
  }[];
  /** The newest first; not all of them when there are many. */
  readonly matches: readonly {
    readonly id: string;
    readonly rule_id: string;
    readonly platform: Match['platform'];
    readonly created_at: string;
    readonly url: string | null;
    readonly title: string | null;
    readonly text: string | null;
    readonly author: string | null;
    /** The words that made it match. */
    readonly why: readonly string[];
  }[];
  readonly coverage: NonNullable<Answers['ListMatches']['coverage']> & {
    /** The whole period was heard, or fetched later. */
    readonly without_gap: boolean;
  };
}

export interface WebhookToVerify {
  /** As CreateWebhook or RotateWebhookSecret showed it: `whsec_…`. */
  readonly secret: string;
  /** Of the request: `Headers`, or the object that Node has. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came, before anything parsed them. */
  readonly body: string | Uint8Array;
  /** Milliseconds since 1970; now by default. */
  readonly now?: number;
}

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const toleranceSeconds = 300;

/**
 * Returns the message if its signature is valid and it is recent; throws a WebhookVerificationError otherwise. A message that
 * is delivered again has the same id (`webhook-id`): store the ids to recognise repetitions.
 */
export async function verifyWebhook(
  webhook: WebhookToVerify,
): Promise<{ id: string; message: WebhookMessage }> {
  const { secret, headers, body, now = Date.now() } = webhook;
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('The timestamp is not a number.');
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('The message is older or newer than 5 minutes.');
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const key = await crypto.subtle.importKey(
    'raw',
    secretBytes(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
    // Web Crypto compares in constant time.
    if (given && (await crypto.subtle.verify('HMAC', key, given, signed))) {
      return { id, message: JSON.parse(new TextDecoder().decode(bytes)) };
    }
  }
  throw new WebhookVerificationError('No signature fits the secret.');
}

function readHeader(headers: WebhookToVerify['headers'], name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : Reflect.get(headers, name);
  if (typeof value !== 'string' || value === '') {
    throw new WebhookVerificationError(`The header ${name} is missing.`);
  }
  return value;
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0)
    throw new TypeError('The secret is not one of Earshot: whsec_ and base64.');
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
