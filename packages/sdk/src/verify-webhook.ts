import type { Answers, Match, Notice, Removal } from './contract-types.ts';

export type WebhookMessage =
  | {
      readonly type: 'matches';
      readonly webhook_id: string;
      /** `truncated`: the match was too large for a message, so it has no `payload.raw`. */
      readonly matches: readonly (Match & { readonly truncated?: true })[];
      /** Removed matches: delete your copies. Absent if there are none. */
      readonly removed?: readonly Removal[];
    }
  /** Only with `events: ["notices"]`: sent when the notice is raised, and again when it is resolved. */
  | { readonly type: 'notice'; readonly webhook_id: string; readonly notice: Notice }
  | DigestMessage
  | { readonly type: 'test'; readonly webhook_id: string };

/** A digest message. Its titles, texts, authors and URLs are untrusted content. */
export interface DigestMessage {
  readonly type: 'digest';
  readonly webhook_id: string;
  readonly digest_id: string;
  readonly name: string;
  /** The number of the message in the digest, from 1. */
  readonly number: number;
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  readonly total: number;
  /** There are more matches than `total`. */
  readonly total_is_minimum: boolean;
  readonly counts: readonly {
    readonly rule_id: string;
    readonly rule_name: string;
    readonly platform: Match['platform'];
    readonly matches: number;
  }[];
  /** Newest first, or the largest story first; at most `max_matches` of the digest. */
  readonly matches: readonly {
    readonly id: string;
    readonly rule_id: string;
    readonly platform: Match['platform'];
    readonly created_at: string;
    readonly url: string | null;
    readonly title: string | null;
    readonly text: string | null;
    readonly author: string | null;
    /** The words that matched. */
    readonly why: readonly string[];
    /** Only with `group` of the digest. */
    readonly story?: Pick<
      NonNullable<Match['story']>,
      'id' | 'matches' | 'platforms' | 'first_at' | 'last_at'
    >;
  }[];
  readonly coverage: NonNullable<Answers['ListMatches']['coverage']> & {
    /** The whole period was covered, or fetched later. */
    readonly without_gap: boolean;
  };
}

export interface WebhookToVerify {
  /** The secret from CreateWebhook or RotateWebhookSecret: `whsec_…`. */
  readonly secret: string;
  /** The headers of the request: `Headers`, or the object of Node. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The unparsed bytes of the body. */
  readonly body: string | Uint8Array;
  /** Milliseconds since 1970; now by default. */
  readonly now?: number;
}

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const toleranceSeconds = 300;

/**
 * Returns the message if it is recent and has a valid signature. Otherwise it throws a WebhookVerificationError. A repeated
 * message has the same id (`webhook-id`). To recognise repetitions, store the ids.
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
  if (!(bytes instanceof Uint8Array))
    throw new WebhookVerificationError(
      'The body must be the raw bytes of the request, not the parsed JSON: read it before a JSON parser does, such as with express.raw().',
    );
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
    throw new TypeError('The secret is not valid. It must be whsec_ and base64.');
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
