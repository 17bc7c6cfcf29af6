import { AsyncLocalStorage } from 'node:async_hooks';
import { isWellFormedKey, type Scope } from '@earshot/contract';
import { createEarshot } from '@earshot/sdk';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Authenticate, bearerOf } from '../accounts/authenticate.ts';
import type { RateLimits } from '../accounts/rate-limits.ts';
import type { ResourceServer } from '../oauth/resource-server.ts';
import type { Logger } from '../observability/logger.ts';
import { Failure } from '../runtime/failure.ts';
import { challengeOf, insufficientScope } from './oauth.ts';

export interface McpOptions {
  readonly authenticate: Authenticate;
  readonly limits: RateLimits;
  readonly log: Logger;
  /** Dollars a day: a tool starts a more expensive rule only if the agent's user has agreed. */
  readonly mcpConfirmUsd: number;
  readonly innerCalls: InnerCalls;
  /** The address of the installation; null if it is not configured. */
  readonly publicUrl: string | null;
  /** Null if only keys are accepted. */
  readonly resourceServer: ResourceServer | null;
}

/** Longer than a call that waits for matches, and shorter than the timeouts of MCP clients. */
const callMs = 45_000;

/**
 * The tools of the MCP server at `/mcp`. They call the operations through this server, as any client does. So keys, scopes, limits,
 * audit and idempotency are decided in one place, and no tool can do what its key cannot.
 */
export function addMcp(app: FastifyInstance, options: McpOptions): void {
  const { limits, log, mcpConfirmUsd, innerCalls, resourceServer } = options;
  const authenticate = authenticateMcp(options);
  const load = async () => {
    const { createMcpOverHttp, scopeOfCall } = await import('@earshot/mcp');
    const onFault = (error: unknown) => log.error({ err: error }, 'a tool failed with an internal error');
    return { mcp: createMcpOverHttp({ confirmAboveUsd: mcpConfirmUsd, onFault }), scopeOfCall };
  };
  // Loaded with the first call: it is a tenth of a node's code, and many nodes never need it.
  let loading: ReturnType<typeof load> | null = null;
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { operation: 'Mcp' },
    onRequest: async (request, reply) => {
      assertOwnOrigin(request.headers.origin, options.publicUrl);
      const principal = await authenticate(request.headers.authorization, request.ip).catch((error) => {
        if (resourceServer && error instanceof Failure && error.code === 'unauthenticated')
          reply.header('www-authenticate', challengeOf(resourceServer));
        throw error;
      });
      request.principal = principal;
      const admission = limits.admit(principal, { changes: false });
      reply.headers(admission.headers);
      if (admission.refusal) throw admission.refusal;
      // The request that the tool sends counts as in progress. If both counted, one call could exceed the limit.
      admission.release();
    },
    handler: async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      loading ??= load();
      const { mcp, scopeOfCall } = await loading;
      assertScopeOf(request, reply, { resourceServer, scope: scopeOfCall(request.body) });
      const call = new Request(new URL(request.url, 'http://earshot.invalid'), {
        method: request.method,
        headers: headersOf(request),
        signal: gone.signal,
      });
      const earshot = createEarshot({
        url: 'http://earshot.invalid',
        key: bearerOf(request.headers.authorization),
        timeoutMs: callMs,
        fetch: innerCalls.fetchFor(request),
      });
      const { scopes } = request.principal ?? {};
      const response = await mcp.answer(call, { earshot, scopes, body: request.body });
      return reply.send(response);
    },
  });
}

/**
 * Browsers send the origin of the web page from which a request comes; programs send none, or that of the server. The Host header
 * does not show which that is: a page can get another name resolved to this machine.
 */
function assertOwnOrigin(origin: string | undefined, publicUrl: string | null): void {
  if (origin === undefined || (publicUrl !== null && origin === new URL(publicUrl).origin)) return;
  throw new Failure('permission_denied', 'Web pages may not call /mcp. Call it from a program.');
}

/** Without the key, which the MCP protocol does not need. */
function headersOf({ headers }: FastifyRequest): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== 'authorization') copied.set(name, value);
  }
  return copied;
}

/** Authenticates by a key, or by an access token for `/mcp`. */
export function authenticateMcp({
  authenticate,
  resourceServer,
}: Pick<McpOptions, 'authenticate' | 'resourceServer'>): Authenticate {
  if (resourceServer === null) return authenticate;
  return (authorization, address) => {
    const bearer = bearerOf(authorization);
    const isKey = bearer === '' || isWellFormedKey(bearer);
    return isKey ? authenticate(authorization, address) : resourceServer.authenticate(authorization, address);
  };
}

/** A program that was authorized by OAuth can request more scopes from its user. With a key, the tool is hidden instead. */
function assertScopeOf(
  { headers, principal }: FastifyRequest,
  reply: FastifyReply,
  { resourceServer, scope }: { resourceServer: ResourceServer | null; scope: Scope | null },
): void {
  if (resourceServer === null || principal === null || isWellFormedKey(bearerOf(headers.authorization)))
    return;
  if (scope === null || principal.scopes.includes(scope)) return;
  reply.header('www-authenticate', insufficientScope(resourceServer, [...principal.scopes, scope]));
  throw new Failure('permission_denied', `The access token lacks the scope "${scope}". Request it.`, {
    details: { required_scope: scope },
  });
}

export type InnerCalls = ReturnType<typeof createInnerCalls>;

/** Requests that the server sends to itself while it answers one: without a socket, but through all hooks and routes. */
export function createInnerCalls(app: FastifyInstance) {
  const caller = new AsyncLocalStorage<AbortSignal>();
  app.addHook('onRequest', async (_request, reply) => {
    // The only way to notice that the caller has disconnected: `inject` drops its signal once the body is read.
    const signal = caller.getStore();
    if (signal?.aborted) reply.raw.destroy();
    else signal?.addEventListener('abort', () => reply.raw.destroy(), { once: true });
  });
  return {
    /** Whether the current request is an inner call. */
    isInner: () => caller.getStore() !== undefined,
    /** Sends requests as the caller of this request: with its address and its request id. */
    fetchFor:
      ({ id, ip }: { readonly id: string; readonly ip: string }): typeof fetch =>
      async (input, init) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : input);
        const answer = await caller.run(init?.signal ?? new AbortController().signal, async () =>
          app.inject({
            method: init?.method === 'POST' ? 'POST' : 'GET',
            url: pathname + search,
            headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-request-id': id },
            remoteAddress: ip,
            ...(typeof init?.body === 'string' && { payload: init.body }),
          }),
        );
        const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
        return new Response(answer.rawPayload, {
          status: answer.statusCode,
          headers: Object.fromEntries(headers),
        });
      },
  };
}
