import type { Scope } from '@earshot/contract';
import type { Authenticate } from '../accounts/authenticate.ts';

/** What the tools of `/mcp` need. Nothing else can be given away by OAuth: a token works on no other route. */
export const grantableScopes = ['rules:read', 'rules:write', 'matches:read'] as const satisfies Scope[];

export function isGrantable(scope: string): scope is Scope {
  return grantableScopes.some((one) => one === scope);
}

/** How keys of the programs that another issuer authorizes are told from those of our own grants. */
const ofIssuer = 'issuer:';

export function clientOfIssuer(program: string): string {
  return `${ofIssuer}${program}`;
}

/** SQL: of a row of `api_keys`, which is the grant of a program that we authorized ourselves. */
export const isOwnGrant = `client_id is not null and client_id not like '${ofIssuer}%'`;

/** `/mcp` as programs see it that were authorized by OAuth (RFC 9728). */
export interface ResourceServer {
  /** Its own address, which is the audience of its tokens. */
  readonly resource: string;
  /** Who issues them. */
  readonly issuer: string;
  /** Throws unless the header holds a valid access token for `/mcp`. */
  readonly authenticate: Authenticate;
}
