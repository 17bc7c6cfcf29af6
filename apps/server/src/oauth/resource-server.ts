import type { Scope } from '@earshot/contract';
import type { Authenticate } from '../accounts/authenticate.ts';

/** The scopes that the tools of `/mcp` need. OAuth grants no others: a token works on no other route. */
export const grantableScopes = [
  'rules:read',
  'rules:write',
  'matches:read',
  'matches:label',
  'readers:write',
] as const satisfies Scope[];

export function isGrantable(scope: string): scope is Scope {
  return grantableScopes.some((one) => one === scope);
}

/** Prefix of the client ids of programs that an external issuer authorizes. Earshot's own grants do not have it. */
const ofIssuer = 'issuer:';

export function clientOfIssuer(program: string): string {
  return `${ofIssuer}${program}`;
}

/** SQL: whether a row of `api_keys` is a grant of Earshot's own authorization server. */
export const isOwnGrant = `client_id is not null and client_id not like '${ofIssuer}%'`;

/** `/mcp` as a protected resource for programs that were authorized by OAuth (RFC 9728). */
export interface ResourceServer {
  /** Its URL, which is the audience of its tokens. */
  readonly resource: string;
  /** The issuer of its tokens. */
  readonly issuer: string;
  /** Throws unless the header holds a valid access token for `/mcp`. */
  readonly authenticate: Authenticate;
}
