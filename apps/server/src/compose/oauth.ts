import type { KeyGuesses } from '../accounts/authenticate.ts';
import type { AuthorizationServer } from '../oauth/authorization-server.ts';
import { createFetchMetadata } from '../oauth/fetch-metadata.ts';
import type { ResourceServer } from '../oauth/resource-server.ts';
import { createResolve } from '../webhooks/guarded-connector.ts';
import type { Shared } from './shared.ts';

interface OAuthOptions {
  readonly contact: string;
  readonly guesses: KeyGuesses;
  readonly nowMs: () => number;
  readonly cookieSecrets: readonly Buffer[];
}

/** Null if it is switched off: the library is then not even loaded. */
export async function openAuthorizationServer(
  shared: Shared,
  stack: AsyncDisposableStack,
  { cookieSecrets, ...options }: OAuthOptions,
): Promise<AuthorizationServer | null> {
  const { publicUrl, oauthIssuer, console, allowInsecureWebhooks: allowInsecure } = shared.config;
  if (publicUrl === undefined || oauthIssuer !== undefined || console === 'off') return null;
  const fetchMetadata = stack.use(createFetchMetadata({ resolve: createResolve(), allowInsecure }));
  const { createAuthorizationServer } = await import('../oauth/authorization-server.ts');
  const server = createAuthorizationServer({ ...shared, ...options, publicUrl, fetchMetadata });
  server.useCookieSecrets(cookieSecrets);
  return server;
}

/** Null unless the operator trusts an external authorization server instead of Earshot's. */
export async function openTrustedIssuer(
  { config, database }: Shared,
  { guesses }: Pick<OAuthOptions, 'guesses'>,
): Promise<ResourceServer | null> {
  const { publicUrl, oauthIssuer: issuer } = config;
  if (publicUrl === undefined || issuer === undefined) return null;
  const { createTrustedIssuer } = await import('../oauth/trusted-issuer.ts');
  return createTrustedIssuer({ database, publicUrl, issuer, guesses });
}
