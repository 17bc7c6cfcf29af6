import { inFile, type Mutation } from './mutation.ts';

const server = 'apps/server/src';
const attacks = ['e2e/oauth-attacks.e2e.test.ts'];
const clients = ['e2e/oauth-clients.nightly.test.ts'];
const kept = ['apps/server/test/oauth.int.test.ts'];
const routes = ['apps/server/test/oauth-routes.int.test.ts'];
const documents = [`${server}/oauth/fetch-metadata.unit.test.ts`];

/** Programs that are authorized by OAuth. */
export const oauthMutations: readonly Mutation[] = [
  ...inFile(`${server}/oauth/access-tokens.ts`, kept, [
    ['a token outlives its key', 'and ${isValid}) as key', ') as key'],
    ['a token is accepted after its time', 'and token.expires_at > now()', ''],
    ['a token for another resource is accepted', "and token.payload->>'aud' = $2", "and ($2 = '' or true)"],
    ['a refresh token is an access token', "token.kind = 'AccessToken' and", ''],
    [
      'a token may do what its key may',
      "array(select unnest(key.scopes) intersect select unnest(string_to_array(token.payload->>'scope', ' ')))",
      'key.scopes',
    ],
  ]),
  ...inFile(`${server}/oauth/artefacts.sql.ts`, kept, [
    ['a grant is renewed after its key has ended', "and (kind <> 'Grant' or ${ofValidKey})", ''],
    ['two consume the same', 'and hash = $2 and consumed_at is null', 'and hash = $2'],
    [
      'the key of a destroyed grant goes on',
      "if (kind === 'Grant' && row?.account_id)",
      "if (kind === 'Nothing' && row?.account_id)",
    ],
    [
      'a decision of a deleted account stays',
      'payload.accountId ?? payload.result?.login?.accountId ?? null',
      'payload.accountId ?? null',
    ],
    ['a grant is over as soon as it is made', 'and created_at < now() - ${newGrant}', ''],
  ]),
  ...inFile(`${server}/oauth/artefacts.sql.ts`, attacks, [
    ['tokens are in the database', "$3::jsonb - 'jti'", '$3::jsonb'],
  ]),
  ...inFile(`${server}/oauth/fetch-metadata.ts`, documents, [
    ['a document may be of any size', 'if (read > bytesMax)', 'if (read > 1e9)'],
    ['a document may be anywhere', 'if (problem !== null) throw', 'if (problem === url) throw'],
    ['a document may take for ever', 'signal: AbortSignal.timeout(withinMs),', ''],
  ]),
  ...inFile(`${server}/oauth/provider.ts`, attacks, [
    ['PKCE may be left out', 'required: () => true', 'required: () => false'],
    ['any resource will do', 'if (indicator !== resource) throw', 'if (indicator === resource + "x") throw'],
    ['refresh tokens are not renewed', 'rotateRefreshToken: true', 'rotateRefreshToken: false'],
    ['addresses come from the caller', 'request.headers.host = host;', ''],
  ]),
  ...inFile(`${server}/oauth/provider.ts`, clients, [
    [
      'a program may have any address',
      "if (protocol !== 'https:' && protocol !== 'http:')",
      'if (protocol === null)',
    ],
  ]),
  ...inFile(`${server}/oauth/authorization-server.ts`, attacks, [
    ['another request of the same browser is decided', 'interaction?.uid === uid ?', 'interaction ?'],
    ['a request is decided twice', 'if (isDecided)', 'if (isDecided && asked.length > 9)'],
    ['more is given than was asked for', 'if (beyond !== undefined) throw', 'if (beyond === "") throw'],
  ]),
  ...inFile(`${server}/http/authorize.ts`, attacks, [
    [
      'a key that may make no keys gives a grant',
      "if (scopes.includes('keys:write')) return;",
      'if (scopes.length > 0) return;',
    ],
  ]),
  ...inFile(`${server}/http/server.ts`, attacks, [
    ['a token works everywhere', '(innerCalls.isInner() ? inner : null)', '(innerCalls ? inner : null)'],
  ]),
  ...inFile(`${server}/http/oauth.ts`, routes, [
    [
      'anybody may register without end',
      'if (path === registrationPath) assertWithin(registrations.failed(ip));',
      '',
    ],
  ]),
  ...inFile(`${server}/oauth/artefacts.sql.ts`, routes, [
    [
      'unused registrations are kept without end',
      "if (kind === 'Client') await",
      "if (kind === 'Nothing') await",
    ],
  ]),
  ...inFile(`${server}/oauth/provider.ts`, routes, [
    ['a registration may be of any size', '> clientBytesMax)', '> 1e9)'],
  ]),
];
