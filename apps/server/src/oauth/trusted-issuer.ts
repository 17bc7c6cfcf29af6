import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import {
  type Authenticate,
  bearerOf,
  createKeyLookup,
  type KeyGuesses,
  tooManyGuesses,
} from '../accounts/authenticate.ts';
import type { Principal } from '../accounts/call.ts';
import { byEarshot } from '../accounts/change.ts';
import { accountSuspended, createKeyStore, hashOf, keyRefused } from '../accounts/keys.ts';
import type { Database } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { clientOfIssuer, grantableScopes, isGrantable, type ResourceServer } from './resource-server.ts';

export interface TrustedIssuerOptions {
  readonly database: Database;
  readonly publicUrl: string;
  /** Exactly as in the claim `iss`. */
  readonly issuer: string;
  readonly guesses: KeyGuesses;
}

/** The claim that holds the id of the account. */
const accountClaim = 'earshot_account';
/** Asymmetric signatures only: the key that verifies a token must not be able to sign one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const clockToleranceSeconds = 5;
const tokenLengthMax = 8_192;
const fetchWithinMs = 5_000;
const touchEveryMs = 60_000;

/**
 * `/mcp` for the access tokens of an external authorization server, such as a company's own: signed JWTs for this address that name an
 * account. The first token of a program and user creates a key of the account, which nothing else can use. So the authorization is
 * listed, limited and revoked like any key, and stays revoked whatever tokens are issued later.
 */
export function createTrustedIssuer(options: TrustedIssuerOptions): ResourceServer {
  const { database, issuer, publicUrl, guesses } = options;
  const resource = `${publicUrl}/mcp`;
  const verify = createVerify(issuer, resource);
  const lookup = createKeyLookup(database);
  const touch = createTouch((keyId) => lookup.touch(keyId));
  const authenticate: Authenticate = async (authorization, address) => {
    const claims = await verify(bearerOf(authorization));
    const principal = claims && (await principalOf(options, lookup, claims));
    if (!principal) {
      const waitSeconds = guesses.failed(address);
      throw waitSeconds === null ? keyRefused() : tooManyGuesses(waitSeconds);
    }
    if (principal.isSuspended) throw accountSuspended();
    touch(principal.keyId);
    return principal;
  };
  return { resource, issuer, authenticate };
}

/** Null for everything that is not a valid token of the issuer for Earshot. */
function createVerify(issuer: string, audience: string) {
  let keys: ReturnType<typeof createRemoteJWKSet> | null = null;
  return async (token: string): Promise<JWTPayload | null> => {
    if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null;
    try {
      keys ??= createRemoteJWKSet(await findKeys(issuer), { timeoutDuration: fetchWithinMs });
      const expected = { issuer, audience, algorithms, clockTolerance: clockToleranceSeconds };
      const { payload } = await jwtVerify(token, keys, { ...expected, requiredClaims: ['exp', 'sub'] });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return null;
      throw new Failure(
        'unavailable',
        'Earshot cannot read the keys of the token issuer. Try again in 5 s.',
        {
          details: { reason: 'issuer' },
          retryAfterSeconds: 5,
          cause: error,
        },
      );
    }
  };
}

const metadataSchema = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** The URL of the issuer's keys. OpenID Connect and RFC 8414 publish it in different places. */
async function findKeys(issuer: string): Promise<URL> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  for (const place of places) {
    const answer = await fetch(place, { signal: AbortSignal.timeout(fetchWithinMs), redirect: 'error' });
    const metadata = answer.ok ? metadataSchema.safeParse(await answer.json()) : null;
    if (metadata?.success && metadata.data.issuer === issuer) return new URL(metadata.data.jwks_uri);
  }
  throw new Error(`there is no metadata of ${issuer} at ${places.join(' or ')}`);
}

const claimsSchema = z.looseObject({
  sub: z.string().min(1).max(500),
  client_id: z.string().max(500).optional(),
  azp: z.string().max(500).optional(),
  scope: z.string().optional(),
  scp: z.union([z.array(z.string()), z.string()]).optional(),
});

/** No key has this text, so no request can contain one with this hash. */
export function issuerKeyHash(
  names: readonly [issuer: string, accountId: string, program: string, sub: string],
) {
  return hashOf(JSON.stringify(['issuer', ...names]));
}

async function principalOf(
  { database, issuer }: TrustedIssuerOptions,
  lookup: ReturnType<typeof createKeyLookup>,
  payload: JWTPayload,
): Promise<Principal | null> {
  const claims = claimsSchema.safeParse(payload);
  const accountId = payload[accountClaim];
  if (!claims.success || typeof accountId !== 'string' || !/^acc_\w{1,40}$/.test(accountId)) return null;
  const { sub, client_id, azp, scope, scp } = claims.data;
  const program = client_id ?? azp ?? '';
  const hash = issuerKeyHash([issuer, accountId, program, sub]);
  const found = (await lookup.principalOf(hash)) ?? (await firstKey());
  const granted = [scope ?? '', ...[scp ?? []].flat()].join(' ').split(' ').filter(isGrantable);
  return found && { ...found, scopes: found.scopes.filter((one) => granted.includes(one)) };

  /** Null if there was a key and it was revoked. */
  async function firstKey(): Promise<Principal | null> {
    if (await database.one('select 1 from api_keys where hash = $1', [hash])) return null;
    const name = program || sub;
    await createKeyStore(database)
      .createKey(
        byEarshot(String(accountId), 'CreateKey'),
        { hash, display: `${name.slice(0, 80)} (OAuth)` },
        {
          id: newId('key'),
          callingKeyId: null,
          scopes: [...grantableScopes],
          expiresAt: null,
          budget: null,
          keysMax: null,
          client: { id: clientOfIssuer(program), name },
        },
      )
      .catch((error: unknown) => {
        // Another request with the same token was first.
        if (!(error instanceof Error && 'code' in error && error.code === '23505')) throw error;
      });
    return await lookup.principalOf(hash);
  }
}

/** Records when a key was last used, at most once a minute. */
function createTouch(touch: (keyId: string) => Promise<void>): (keyId: string) => void {
  const touchedAt = new Map<string, number>();
  return (keyId) => {
    const now = performance.now();
    if (now - (touchedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < touchEveryMs) return;
    if (touchedAt.size >= 10_000) touchedAt.clear();
    touchedAt.set(keyId, now);
    touch(keyId).catch(() => touchedAt.delete(keyId));
  };
}
