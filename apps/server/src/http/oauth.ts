import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createKeyGuesses as createAddressLimit } from '../accounts/authenticate.ts';
import type { AuthorizationServer } from '../oauth/authorization-server.ts';
import { grantableScopes, type ResourceServer } from '../oauth/resource-server.ts';
import { Failure } from '../runtime/failure.ts';

/** Per address. The hosts of many agents share a few addresses. */
const requestsPerMinute = 120;
const registrationsPerMinute = 20;
const registrationPath = '/reg';

/**
 * The paths of the authorization server below `/oauth`. The library's router ignores case and a trailing slash, so it gets only these
 * paths, never the caller's spelling. If two routers disagreed about a path, a caller could bypass the limits.
 */
const served = [
  { method: 'GET', path: '/auth' },
  { method: 'GET', path: '/auth/:uid(^[\\w-]+$)' },
  { method: 'POST', path: '/token' },
  { method: 'POST', path: '/token/revocation' },
  { method: 'POST', path: registrationPath },
  { method: 'GET', path: '/jwks' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server' },
  { method: 'GET', path: '/.well-known/openid-configuration' },
] as const;

const metadataPath = '/.well-known/oauth-protected-resource';
const serverMetadataPath = '/.well-known/oauth-authorization-server';

/** The metadata that shows programs their authorization server (RFC 9728). */
export function addResourceMetadata(app: FastifyInstance, { resource, issuer }: ResourceServer): void {
  const metadata = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: grantableScopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Earshot',
  };
  for (const url of [metadataPath, `${metadataPath}/mcp`])
    app.get(url, { config: { operation: 'OAuthMetadata' } }, async () => metadata);
}

/** The challenge of a 401: where a program learns how to be authorized, and which scopes to request. */
export function challengeOf({ resource }: ResourceServer): string {
  return `Bearer resource_metadata="${metadataUrlOf(resource)}", scope="${grantableScopes.join(' ')}"`;
}

/** The challenge of a 403: the scopes that the token has and those that it lacks, so that a program can request all of them. */
export function insufficientScope({ resource }: ResourceServer, needed: readonly string[]): string {
  return `Bearer error="insufficient_scope", scope="${needed.join(' ')}", resource_metadata="${metadataUrlOf(resource)}"`;
}

function metadataUrlOf(resource: string): string {
  return new URL(`${metadataPath}/mcp`, resource).href;
}

/** The authorization server below `/oauth`. Its metadata is also at the path of RFC 8414. */
export function addAuthorizationServer(app: FastifyInstance, server: AuthorizationServer): void {
  const nowMs = () => performance.now();
  const requests = createAddressLimit({ perMinute: requestsPerMinute, nowMs });
  const registrations = createAddressLimit({ perMinute: registrationsPerMinute, nowMs });
  const handOver = (request: FastifyRequest, reply: FastifyReply, path: string) => {
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    server.answer(path, { request: request.raw, response: reply.raw });
    return reply;
  };
  for (const url of [serverMetadataPath, `${serverMetadataPath}/oauth`]) {
    app.get(url, { config: { operation: 'OAuthMetadata' } }, async (request, reply) =>
      handOver(request, reply, serverMetadataPath),
    );
  }
  void app.register(async (scope) => {
    // The library reads the bodies.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const { method, path } of served) {
      scope.route<{ Params: { uid?: string } }>({
        method,
        url: `/oauth${path}`,
        config: { operation: 'OAuth' },
        onRequest: async ({ ip }) => {
          assertWithin(requests.failed(ip));
          if (path === registrationPath) assertWithin(registrations.failed(ip));
        },
        handler: async (request, reply) => {
          const { uid } = request.params;
          return handOver(request, reply, `${uid === undefined ? path : `/auth/${uid}`}${queryOf(request)}`);
        },
      });
    }
  });
}

function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

function assertWithin(waitSeconds: number | null): void {
  if (waitSeconds === null) return;
  throw new Failure(
    'resource_exhausted',
    `Too many requests come from your address. Wait ${waitSeconds} s.`,
    { details: { reason: 'rate_limit' }, retryAfterSeconds: waitSeconds },
  );
}
