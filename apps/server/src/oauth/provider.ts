import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientMetadata, type Configuration, errors, interactionPolicy, Provider } from 'oidc-provider';
import type { Database } from '../engines/database.ts';
import type { Logger } from '../observability/logger.ts';
import { newId } from '../runtime/ids.ts';
import { createArtefacts } from './artefacts.sql.ts';
import type { FetchMetadata } from './fetch-metadata.ts';
import { grantableScopes } from './resource-server.ts';

export interface ProviderOptions {
  readonly database: Database;
  /** The origin at which browsers and programs reach this installation. */
  readonly publicUrl: string;
  readonly fetchMetadata: Pick<FetchMetadata, 'fetch'>;
  readonly log: Logger;
}

const minute = 60;
const day = 24 * 60 * minute;
/** How long an authorization request waits for the user to sign in and decide. */
const decideWithin = 30 * minute;

/** In seconds. */
const lifetimes = {
  AuthorizationCode: minute,
  AccessToken: 60 * minute,
  RefreshToken: 30 * day,
  // A grant lives as long as its refresh tokens are renewed: `forgetArtefacts` ends it.
  Grant: 3_650 * day,
  Interaction: decideWithin,
  Session: decideWithin,
  IdToken: minute,
};

/** The defaults of a client's metadata. */
const publicClient: NonNullable<Configuration['clientDefaults']> = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
};

const mountedAt = '/oauth';

/** The authorization server: oidc-provider, with everything switched off that programs which use `/mcp` do not need. */
export function createProvider(options: ProviderOptions): Provider {
  const { publicUrl, log } = options;
  const provider = new Provider(publicUrl + mountedAt, configurationOf(options));
  // It sees only what `http/oauth.ts` has written into the headers.
  provider.proxy = true;
  provider.use(async (ctx, next) => {
    // A request that names none of Earshot's scopes is for all of them. No other route reads this parameter.
    const requested = String(ctx.query['scope'] ?? '').split(' ');
    if (!grantableScopes.some((scope) => requested.includes(scope)))
      ctx.query = { ...ctx.query, scope: grantableScopes.join(' ') };
    await next();
  });
  // Anyone can register a redirect URI. Before the user's decision, an error must not redirect to it (RFC 9700, 4.11.2).
  provider.on('authorization.error', (ctx, error) => {
    if (ctx.oidc.route === 'authorization') error.allow_redirect = false;
  });
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'the authorization server failed'));
  return provider;
}

/** Signs the library's cookies with the secrets of the installation: the first one signs, all are accepted. */
export function useCookieSecrets(provider: Provider, secrets: readonly Buffer[]): void {
  const derived = secrets.map((secret) =>
    createHmac('sha256', secret).update('oauth cookies').digest('base64url'),
  );
  provider.keys = [...new Set(derived)];
}

/** Passes a request to the authorization server, which sends the answer. `path` is below `/oauth`. */
export function passOn(
  provider: Provider,
  path: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): void {
  const { host, protocol } = new URL(provider.issuer);
  // The library builds URLs from these. The caller's values must not be in them.
  request.headers.host = host;
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
  delete request.headers['x-forwarded-host'];
  request.url = path;
  void provider.callback()(Object.assign(request, { baseUrl: mountedAt }), response);
}

function configurationOf({ publicUrl, database, fetchMetadata }: ProviderOptions): Configuration {
  const resource = `${publicUrl}/mcp`;
  const cookie = {
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    secure: publicUrl.startsWith('https:'),
  } as const;
  return {
    adapter: adapterOf(database),
    fetch: (url: string | URL | Request) =>
      fetchMetadata.fetch(url instanceof Request ? url.url : String(url)),
    // Nothing is ever signed: tokens are opaque, and users are not identified. The library requires a key anyway.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    cookies: {
      names: { session: 'earshot_oauth', interaction: 'earshot_authorize', resume: 'earshot_resume' },
      long: { ...cookie, path: `${mountedAt}/auth` },
      short: cookie,
    },
    clientAuthMethods: ['none'],
    responseTypes: ['code'],
    scopes: [...grantableScopes],
    clientDefaults: publicClient,
    // The one field of RFC 7591 that the library does not know. It calls the check for it, which gets all other fields too.
    extraClientMetadata: {
      properties: ['software_id'],
      validator: (_ctx, _key, _value, all) => checkClient(all),
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    clientBasedCORS: () => false,
    expiresWithSession: () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    ttl: lifetimes,
    // `Grant` is found only while its key is valid and its account is not suspended.
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
    },
    interactions: { policy: alwaysPrompt(), url: (_ctx, { uid }) => `/console/authorize/${uid}` },
    renderError: (ctx, { error, error_description }) => {
      // The library has prepared a redirect for some errors.
      if (ctx.status < 400) ctx.status = 400;
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = `This request cannot be authorized: ${error_description ?? error}.\nReturn to the program that sent you here, and start again.\n`;
    },
    features: featuresOf(resource),
  };
}

function featuresOf(resource: string): NonNullable<Configuration['features']> {
  const off = { enabled: false };
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    revocation: {
      enabled: true,
      allowedPolicy: async (_ctx, client, { clientId }) => clientId === client.clientId,
    },
    registration: {
      enabled: true,
      initialAccessToken: false,
      issueRegistrationAccessToken: false,
      idFactory: () => newId('client'),
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      cacheDuration: { min: minute, max: 60 * minute },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, indicator) => {
        if (indicator !== resource) throw new errors.InvalidTarget(`the only resource here is ${resource}`);
        return {
          scope: grantableScopes.join(' '),
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: 60 * minute,
        };
      },
    },
  };
}

/** Clients register without authentication, so the size of each registration is limited. */
const clientBytesMax = 4_096;

function adapterOf(database: Database): NonNullable<Configuration['adapter']> {
  const artefacts = createArtefacts(database);
  return (kind: string) => {
    const kept = artefacts(kind);
    return {
      ...kept,
      async upsert(id, payload, expiresIn) {
        if (kind === 'Client' && Buffer.byteLength(JSON.stringify(payload)) > clientBytesMax)
          throw new errors.InvalidClientMetadata(`the registration is larger than ${clientBytesMax} bytes`);
        await kept.upsert(id, payload, expiresIn);
      },
      async consume(id) {
        if (!(await kept.consume(id))) throw new errors.InvalidGrant('it was already used');
      },
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    };
  };
}

/** A user who is signed in to the console decides about every request, even about a repeated one. */
function alwaysPrompt(): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  const decided = new Check('undecided', 'the user has not decided about the request', ({ oidc }) =>
    oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
  );
  const signedIn = new Check('no_session', 'the user is not signed in', 'login_required', ({ oidc }) =>
    oidc.result?.login ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
  );
  return [
    new Prompt({ name: 'login', requestable: true }, signedIn),
    new Prompt({ name: 'consent', requestable: true }, decided),
  ];
}

const redirectUrisMax = 20;
const uriLengthMax = 2_000;
const nameLengthMax = 200;

/** Keeps only the client metadata that the code flow of a public client needs. */
function checkClient(metadata: ClientMetadata): void {
  for (const unused of ['scope', 'sector_identifier_uri', 'jwks', 'jwks_uri', 'contacts', 'software_id'])
    delete metadata[unused];
  Object.assign(metadata, {
    id_token_signed_response_alg: 'ES256',
    subject_type: 'public',
    response_modes: ['query'],
    // Native clients may use any port of this machine (RFC 8252) and otherwise need HTTPS.
    application_type: 'native',
  });
  const uris: unknown = metadata.redirect_uris;
  if (!Array.isArray(uris)) return;
  if (uris.length > redirectUrisMax) throw new errors.InvalidClientMetadata('too many redirect_uris');
  for (const uri of uris) {
    const protocol = typeof uri === 'string' && uri.length <= uriLengthMax ? URL.parse(uri)?.protocol : null;
    if (protocol !== 'https:' && protocol !== 'http:')
      throw new errors.InvalidRedirectUri(
        'redirect_uris must begin with https://, or http:// on this machine',
      );
  }
  if ((metadata.client_name ?? '').length > nameLengthMax)
    throw new errors.InvalidClientMetadata('client_name is too long');
}
