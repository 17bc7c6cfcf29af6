import { mailAddress as address, parseBudget, platforms } from '@earshot/contract';
import { z } from 'zod';
import { readPrices } from '../billing/prices.ts';

/** The values that settings accept. */

export interface Setting {
  readonly variable: `EARSHOT_${string}` | `OTEL_${string}`;
  readonly schema: z.ZodType;
  readonly about: string;
  /** The value may also be in a file. Its path is in the variable with the suffix `_FILE`. */
  readonly isSecret?: true;
}

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean),
);
export const roleNames = ['api', 'ingest', 'match', 'deliver'] as const;
export type RoleName = (typeof roleNames)[number];
export const roles = list.pipe(z.array(z.enum(roleNames)).min(1));
const credential = z.templateLiteral([z.string().regex(/^[a-z0-9-]{1,40}$/), '=', z.string().min(1)]);
export const credentials = list
  .pipe(
    z.array(credential).transform((pairs) =>
      pairs.map((pair) => ({
        name: pair.slice(0, pair.indexOf('=')),
        token: pair.slice(pair.indexOf('=') + 1),
      })),
    ),
  )
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length);
export const sourceId = new RegExp(`^(${platforms.join('|')}):[a-z0-9-]{1,40}$`);
export const port = z.coerce.number().int().min(0).max(65_535);
/** A range of all addresses would let every caller choose its address. */
export const addressRange = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
  .refine((range) => !range.endsWith('/0'));
const aesKey = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((key) => key.length === 32);
/** The first one encrypts, all decrypt. */
export const aesKeys = list.pipe(z.tuple([aesKey], aesKey));
export const count = z.coerce.number().int().min(1);
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });
export const path = z.string().min(1);

export const prices = z.string().transform((text, context) => {
  const read = readPrices(text);
  if (typeof read !== 'string') return read;
  context.addIssue({ code: 'custom', message: read });
  return z.NEVER;
});

export const budget = z.string().transform((text, context) => {
  const read = text === 'off' ? null : parseBudget(text);
  if (read !== null || text === 'off') return read;
  context.addIssue({ code: 'custom', message: 'it must be like `usd=5/day`' });
  return z.NEVER;
});

const dollars = /^usd=([^/]+)\/(day|month)$/;

/** `usd=100/day,usd=1000/month`; null for a period without a limit. */
export const installationBudget = list.transform((parts, context) => {
  const limits: { day: number | null; month: number | null } = { day: null, month: null };
  for (const part of parts) {
    const [, amount, period] = dollars.exec(part) ?? [];
    const usd = Number(amount);
    const isKnown = period === 'day' || period === 'month';
    if (!isKnown || limits[period] !== null || !(usd > 0 && usd <= 1_000_000)) {
      context.addIssue({ code: 'custom', message: 'it must be like `usd=100/day,usd=1000/month`' });
      return z.NEVER;
    }
    limits[period] = usd;
  }
  return limits;
});

/** An address whose login can be decoded. A password such as `100%` cannot. */
function isAddress(text: string): boolean {
  try {
    const { host, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return host !== '';
  } catch {
    return false;
  }
}

export const natsAddresses = z
  .string()
  .regex(/^(nats|tls):\/\/[^,]+(,(nats|tls):\/\/[^,]+)*$/)
  .refine((text) => text.split(',').every(isAddress));

export const smtpUrl = z
  .url({ protocol: /^smtps?$/ })
  .refine(isAddress, { abort: true })
  .refine((text) => new URL(text).search === '', 'it must not have options');

export const mailAddress = z.string().regex(address);
/** An address, or all addresses of a domain. */
export const mailRecipient = z
  .string()
  .refine((text) => address.test(text.startsWith('@') ? `a${text}` : text))
  .toLowerCase();

/** A login belongs in a header, which is masked. */
export const collectorUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.parse(text)?.username, 'the login must be in a header');

/** Its key is a separate secret, and Earshot appends the path of the call. */
export const judgeUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.parse(text)?.username, 'the key must be in `EARSHOT_JUDGE_KEY`')
  .refine((text) => !/[?#]/.test(text), 'it must not have a query');

const usd = z.coerce.number<string>().min(0).max(1_000_000);
/** Dollars per million tokens. */
export const judgePrice = list.pipe(z.tuple([usd, usd])).transform(([input, output]) => ({ input, output }));
export const usdPerDay = usd.positive();

/** Plain HTTP is allowed on this machine only. */
function isSecure(url: URL | null): boolean {
  const { protocol, hostname } = url ?? { protocol: '', hostname: '' };
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Without a path: all paths of Earshot begin at the root. */
export const publicOrigin = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine(({ origin, href }) => href === `${origin}/`, 'it must have only a scheme, a host and a port')
  .refine(isSecure, 'it must begin with `https://`')
  .transform(({ origin }) => origin);

/** Kept exactly as written, because it is compared with a claim. */
export const issuer = z
  .url({ protocol: /^https?$/ })
  .refine((text) => isSecure(URL.parse(text)), 'it must begin with `https://`');

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const headerValue = /^[\x20-\x7e]+$/;

/** OpenTelemetry percent-encodes values. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

export const headers = list
  .transform((pairs) =>
    pairs.map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), decode(value.join('=').trim())];
    }),
  )
  .refine((all) => all.every(([name, value]) => headerName.test(name) && headerValue.test(value)))
  .transform((all): Readonly<Record<string, string>> => Object.fromEntries(all));
