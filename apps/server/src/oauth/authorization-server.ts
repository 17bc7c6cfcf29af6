import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Budget, Scope } from '@earshot/contract';
import { errors, type Interaction, type Provider } from 'oidc-provider';
import { createAuthenticate, type KeyGuesses } from '../accounts/authenticate.ts';
import type { Principal } from '../accounts/call.ts';
import type { Change } from '../accounts/change.ts';
import { createKeyAs, createKeyStore, hashOf } from '../accounts/keys.ts';
import type { Database } from '../engines/database.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { createTokenLookup, isAccessToken } from './access-tokens.ts';
import { createArtefacts } from './artefacts.sql.ts';
import { createProvider, type ProviderOptions, passOn, useCookieSecrets } from './provider.ts';
import { isGrantable, type ResourceServer } from './resource-server.ts';

interface AuthorizationServerOptions extends ProviderOptions {
  readonly contact: string;
  readonly guesses: KeyGuesses;
  readonly nowMs: () => number;
}

/** A request and its answer, as Node's objects. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The request of a program that the user has to decide about. */
export interface AuthorizationRequest {
  readonly uid: string;
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly uri: string | null;
    /** The host to which the browser goes with the answer. */
    readonly redirectHost: string;
  };
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** The path on this host at which the browser continues after the decision. */
  readonly continuePath: string;
}

export interface Approval {
  readonly principal: Principal;
  readonly requestId: string;
  readonly scopes: readonly Scope[];
  readonly budget: Budget | null;
}

export interface AuthorizationServer extends ResourceServer {
  /** Answers a request. `path` is below `/oauth`, with the query string, as the library spells it. */
  answer(path: string, exchange: Exchange): void;
  /** Null unless this browser has started it and it has not ended. */
  findRequest(uid: string, exchange: Exchange): Promise<AuthorizationRequest | null>;
  /** Throws if the request was already decided, like `refuse`. */
  allow(request: AuthorizationRequest, approval: Approval, exchange: Exchange): Promise<void>;
  refuse(request: AuthorizationRequest, exchange: Exchange): Promise<void>;
  useCookieSecrets(secrets: readonly Buffer[]): void;
}

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { database, publicUrl, guesses, nowMs } = options;
  const provider = createProvider(options);
  const resource = `${publicUrl}/mcp`;
  const store = createTokenLookup(database, resource);
  return {
    resource,
    issuer: provider.issuer,
    authenticate: createAuthenticate({ store, guesses, nowMs, isWellFormed: isAccessToken }),
    answer: (path, exchange) => passOn(provider, path, exchange),
    async findRequest(uid, exchange) {
      const interaction = await interactionOf(provider, exchange);
      return interaction?.uid === uid ? await toRequest(provider, interaction) : null;
    },
    async allow(authorization, approval, { request, response }) {
      assertRequested(authorization, approval);
      await decideOnce(database, authorization, async () => {
        const grantId = await createGrant({ ...options, provider, resource }, authorization, approval);
        const login = { accountId: approval.principal.accountId, remember: false };
        await provider.interactionResult(request, response, { login, consent: { grantId } });
      });
    },
    async refuse(authorization, { request, response }) {
      const result = { error: 'access_denied', error_description: 'the request was refused' };
      await decideOnce(database, authorization, async () => {
        await provider.interactionResult(request, response, result);
      });
    },
    useCookieSecrets: (secrets) => useCookieSecrets(provider, secrets),
  };
}

/** The interaction that the cookie of this browser names. */
async function interactionOf(
  provider: Provider,
  { request, response }: Exchange,
): Promise<Interaction | null> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return null;
    throw error;
  }
}

async function toRequest(provider: Provider, interaction: Interaction): Promise<AuthorizationRequest | null> {
  const { uid, params, exp, returnTo } = interaction;
  const client = await provider.Client.find(String(params['client_id']));
  const redirect = URL.parse(String(params['redirect_uri']));
  if (!client || !redirect) return null;
  return {
    uid,
    client: {
      id: client.clientId,
      name: readable(client.clientName) || readable(client.clientId),
      uri: client.clientUri ?? null,
      redirectHost: redirect.host,
    },
    scopes: String(params['scope']).split(' ').filter(isGrantable),
    expiresAt: new Date(exp * 1_000),
    continuePath: new URL(returnTo).pathname,
  };
}

const nameLengthMax = 80;

/** The client's name without invisible characters and without those that change the direction of text. */
function readable(text: string | undefined): string {
  const visible = (text ?? '').replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return visible.length > nameLengthMax ? `${visible.slice(0, nameLengthMax - 1)}…` : visible;
}

/** Of several concurrent decisions about a request, one is made. If it fails, the user may decide again. */
async function decideOnce(
  database: Database,
  { uid }: AuthorizationRequest,
  decide: () => Promise<void>,
): Promise<void> {
  const interactions = createArtefacts(database)('Interaction');
  if (!(await interactions.consume(uid)))
    throw new Failure(
      'failed_precondition',
      'This authorization request was already decided. Start again in the program.',
      { details: { reason: 'already_decided' } },
    );
  try {
    await decide();
  } catch (error) {
    await interactions.unconsume(uid);
    throw error;
  }
}

function assertRequested(
  { scopes: requested }: Pick<AuthorizationRequest, 'scopes'>,
  { scopes }: Approval,
): void {
  const beyond = scopes.find((scope) => !requested.includes(scope));
  if (beyond !== undefined) throw badField('scopes', `The program did not request "${beyond}".`);
}

/** Creates the key of the grant, and the grant with the id of the key. */
async function createGrant(
  options: AuthorizationServerOptions & { readonly provider: Provider; readonly resource: string },
  { client: { id: clientId, name } }: AuthorizationRequest,
  { principal, requestId, scopes, budget }: Approval,
): Promise<string> {
  const { database, provider, resource } = options;
  const { accountId, keyId: actor } = principal;
  const change: Change = { accountId, actor, operation: 'CreateKey', requestId, claim: null };
  // A hash that belongs to no key: no request can contain a matching one.
  const key = { hash: hashOf(randomBytes(32).toString('base64')), display: `${name} (OAuth)` };
  const { key_id: grantId } = await createKeyAs(
    { ...options, keys: createKeyStore(database) },
    { principal, change },
    key,
    { scopes, budget, expiresAt: null, client: { id: clientId, name } },
  );
  const grant = new provider.Grant({ accountId, clientId });
  grant.jti = grantId;
  grant.addResourceScope(resource, scopes.join(' '));
  await grant.save();
  return grantId;
}
