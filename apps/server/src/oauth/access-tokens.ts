import { createKeyLookup, type KeyLookup, type PrincipalRow, toPrincipal } from '../accounts/authenticate.ts';
import type { Principal } from '../accounts/call.ts';
import { isValid } from '../accounts/keys.ts';
import { allowedColumns, ofPlan } from '../accounts/plans.ts';
import type { Database } from '../engines/database.ts';
import { joinCalls } from '../runtime/join-calls.ts';

/** Other values are not worth a database query. */
export function isAccessToken(bearer: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(bearer);
}

/**
 * Looks up access tokens as keys are looked up. A token has the rights of its grant's key and ends with the key and its account. Its
 * scopes are those that both it and the key have.
 */
export function createTokenLookup(database: Database, resource: string): KeyLookup {
  return {
    ...createKeyLookup(database),
    principalOf: joinCalls(async (hashes: readonly Buffer[]): Promise<(Principal | null)[]> => {
      const rows = await database.prepared<PrincipalRow>(
        `select token.hash, key.id, key.account_id, ${allowedColumns},
           accounts.suspended_at is not null as is_suspended,
           array(select unnest(key.scopes) intersect select unnest(string_to_array(token.payload->>'scope', ' '))) as scopes
         from oauth_artefacts as token
         join lateral (select id, account_id, scopes from api_keys where api_keys.id = token.grant_id and ${isValid}) as key on true
         join accounts on accounts.id = key.account_id join ${ofPlan}
         where token.kind = 'AccessToken' and token.hash = any($1) and token.expires_at > now() and token.payload->>'aud' = $2`,
        [hashes, resource],
      );
      return hashes.map((hash) => toPrincipal(rows.find((row) => row.hash.equals(hash))));
    }),
  };
}
