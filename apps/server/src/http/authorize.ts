import { scopes as allScopes, type Scope } from '@earshot/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ConsoleSession } from '../accounts/console-sessions.ts';
import type { AuthorizationRequest, AuthorizationServer } from '../oauth/authorization-server.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { admit, type ConsoleSessionOptions, sessionOf } from './console-session.ts';

/*
 * The requests of the console's page at /console/authorize/<uid>, to which the authorization server sends a browser. Both endpoints
 * are below that path, because the browser sends the cookie that identifies the authorization request only there. They follow the
 * rules of all requests with the console's cookie (console-session.ts): `X-Earshot-Console: 1`, same origin, JSON.
 *
 * GET /console/authorize/<uid>/request
 *   200 {
 *     "client": { "id": string, "name": string, "uri": string | null, "redirect_host": string },
 *     "scopes": Scope[],                   the requested scopes; never empty
 *     "account": { "id": string, "name": string },
 *     "expires_at": string
 *   }
 *   401 unauthenticated: not signed in. The authorization request waits: sign in, and send the request again.
 *   404 not_found: unknown, ended, or started in another browser.
 *
 * POST /console/authorize/<uid>/decision
 *   { "decision": "allow" | "refuse", "scopes"?: Scope[], "budget_usd_per_day"?: number | null }
 *     `scopes`: some of the requested ones; if omitted, all of them. Only with "allow", like the budget.
 *   200 { "continue_url": string }         a path of this origin, to which the page navigates (`location.assign`)
 *   400 invalid_argument: a scope that was not requested, no scope, or a budget although the signed-in key has one
 *   403 permission_denied: the signed-in key lacks one of the scopes, or `keys:write` (`details.required_scope`)
 *   401, 404 as above; 429 resource_exhausted: the account has the maximum of keys; 400 failed_precondition: already decided
 */

export interface AuthorizeOptions extends ConsoleSessionOptions {
  readonly authorizationServer: AuthorizationServer;
}

interface Params {
  readonly Params: { readonly uid: string };
}

const decisionSchema = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('allow'),
    scopes: z.array(z.enum(allScopes)).min(1).max(allScopes.length).optional(),
    budget_usd_per_day: z.number().positive().max(1_000_000).multipleOf(0.01).nullable().optional(),
  }),
  z.strictObject({ decision: z.literal('refuse') }),
]);

export function addAuthorize(app: FastifyInstance, options: AuthorizeOptions): void {
  const { authorizationServer, limits } = options;
  app.get<Params>(
    '/console/authorize/:uid/request',
    { config: { operation: 'GetAuthorizationRequest' } },
    async (request, reply) => {
      const { session, authorization } = await readRequest(request, reply, options);
      const { client, scopes, expiresAt } = authorization;
      return {
        client: { id: client.id, name: client.name, uri: client.uri, redirect_host: client.redirectHost },
        scopes,
        account: { id: session.principal.accountId, name: session.accountName },
        expires_at: expiresAt.toISOString(),
      };
    },
  );
  app.post<Params>(
    '/console/authorize/:uid/decision',
    { config: { operation: 'DecideAuthorization' } },
    async (request, reply) => {
      const { session, authorization } = await readRequest(request, reply, options);
      const { principal } = session;
      admit(limits, principal, reply);
      const decided = decisionSchema.safeParse(request.body);
      if (!decided.success)
        throw badField(
          'decision',
          'Send {"decision": "allow" or "refuse"}, and with "allow" scopes and budget_usd_per_day.',
        );
      const exchange = { request: request.raw, response: reply.raw };
      if (decided.data.decision === 'refuse') await authorizationServer.refuse(authorization, exchange);
      else {
        const { scopes = authorization.scopes, budget_usd_per_day: usd } = decided.data;
        assertMayGive(principal.scopes);
        const budget =
          typeof usd === 'number' ? ({ period: 'day', usd, on_reached: 'pause' } as const) : null;
        const approval = { principal, requestId: request.id, scopes: [...new Set(scopes)], budget };
        await authorizationServer.allow(authorization, approval, exchange);
      }
      return { continue_url: authorization.continuePath };
    },
  );
}

interface PendingAuthorization {
  readonly session: ConsoleSession;
  readonly authorization: AuthorizationRequest;
}

async function readRequest(
  request: FastifyRequest<Params>,
  reply: FastifyReply,
  { sessions, authorizationServer }: AuthorizeOptions,
): Promise<PendingAuthorization> {
  const session = await sessionOf(request, sessions);
  request.principal = session.principal;
  const exchange = { request: request.raw, response: reply.raw };
  const authorization = await authorizationServer.findRequest(request.params.uid, exchange);
  if (authorization) return { session, authorization };
  throw new Failure(
    'not_found',
    'The authorization request does not exist, has ended, or was started in another browser. Start again in the program.',
  );
}

/** A grant is a key, so granting requires the right to create keys. */
function assertMayGive(scopes: readonly Scope[]): void {
  if (scopes.includes('keys:write')) return;
  throw new Failure(
    'permission_denied',
    'Your key lacks the scope "keys:write", which is required to authorize a program. Sign in with a key that has it.',
    { details: { required_scope: 'keys:write' } },
  );
}
