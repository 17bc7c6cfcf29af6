import { accountMutations } from './account-mutations.ts';
import { chatMutations } from './chat-mutations.ts';
import { digestMutations } from './digest-mutations.ts';
import { type Change, inFile, type Mutation } from './mutation.ts';
import { oauthMutations } from './oauth-mutations.ts';
import { orderMutations } from './order-mutations.ts';
import { sightMutations } from './sight-mutations.ts';

const server = 'apps/server/src';
const accounts = `${server}/accounts`;
const webhooks = `${server}/webhooks`;
const authentication = [`${accounts}/authenticate.unit.test.ts`];
const keyEnds = ['e2e/keys.e2e.test.ts'];
const consoleSessions = ['e2e/console-session.e2e.test.ts'];
const limits = [`${accounts}/rate-limits.unit.test.ts`];
const leases = ['apps/server/test/lease.int.test.ts'];
const scopes = ['e2e/scopes.e2e.test.ts'];
const addresses = [`${webhooks}/public-address.unit.test.ts`];
const connections = [`${webhooks}/guard-connect.unit.test.ts`];
const doctor = 'apps/cli/src/doctor';
const doctorTests = ['apps/cli/test/doctor.unit.test.ts'];

/** The row of an operation in the contract, up to its scope. */
const asksFor = (id: string, scope: string) => `  ${id}: {\n    scope: ${scope},`;
const withoutScope = (id: string, scope: string): Change => [
  `${id} needs no scope`,
  asksFor(id, `'${scope}'`),
  asksFor(id, 'null'),
];

/**
 * `pnpm test:mutations` carries them out one by one. A line that no longer occurs fails a unit test: change it with the code.
 */
export const mutations: readonly Mutation[] = [
  ...orderMutations,
  ...inFile(`${accounts}/authenticate.ts`, authentication, [
    ['a malformed key is looked up', 'if (!isWellFormed(key)) throw keyRefused();', ''],
    ['a key is remembered for ever', 'if (known && known.until > nowMs())', 'if (known)'],
    ['a revoked key works for half a minute', 'const rememberMs = 3_000;', 'const rememberMs = 30_000;'],
    ['every repetition of an unknown key is looked up', 'noteUnknown(id);\n', '\n'],
    [
      'an unknown key is let in',
      'throw waitSeconds === null ? keyRefused() : tooManyGuesses(waitSeconds);',
      '',
    ],
    ['unknown keys are not counted', 'known ? null : guesses.failed(address)', 'null'],
    ['any scheme will do', "authorization?.startsWith('Bearer ')", 'authorization'],
    ['every address of an IPv6 network guesses anew', '.slice(0, 4)', ''],
  ]),
  ...inFile(`${accounts}/authenticate.ts`, keyEnds, [
    ['revoked and expired keys are let in', 'where hash = any($1) and ${isValid}', 'where hash = any($1)'],
  ]),
  ...inFile(`${server}/http/console-session.ts`, consoleSessions, [
    [
      'a request without the header of the console counts',
      "if (headers['x-earshot-console'] !== '1') return false;",
      '',
    ],
    [
      'a form counts as a request of the console',
      "if (method === 'POST' && !/^application\\/json *(;|$)/i.test(String(headers['content-type']))) return false;",
      '',
    ],
    ['a session counts for every site', "site === 'same-origin'", 'true'],
    [
      'a session counts for every origin',
      'if (!url || url.host !== host) return false;',
      'if (!url) return true;',
    ],
    [
      'a page that came by plain HTTP over a network counts',
      "return url.protocol === 'https:' || isLoopback(url.hostname);",
      'return true;',
    ],
    [
      'a neighbouring host plants a cookie',
      '(isLoopback(hostname) ? valuesOf(plainName) : [])',
      'valuesOf(plainName)',
    ],
    ['a session counts beside a key', 'authorization !== undefined || ', ''],
    ['one of two sessions is taken', 'if (session && !another)', 'if (session)'],
  ]),
  ...inFile(`${accounts}/console-sessions.ts`, consoleSessions, [
    [
      'a link signs in again and again',
      '`delete from console_links where hash = $1 and ${isFresh} returning account_id, key_id`',
      '`select account_id, key_id from console_links where hash = $1 and ${isFresh}`',
    ],
    [
      'a link works for ever',
      "const isFresh = `created_at > now() - interval '${linkSeconds} seconds'`;",
      "const isFresh = 'true';",
    ],
    ['codes of links may be guessed', 'guesses.failed(address)', '(address ? null : 1)'],
    [
      "a link takes the place of another account's session",
      'await assertSameAccount(sql, link.account_id, signIn.formerTokens);',
      '',
    ],
    ['a session from before the sign-in goes on', 'await endSessions(sql, formerTokens, requestId);', ''],
    [
      'a planted cookie is adopted',
      'const token = newToken();',
      'const token = formerTokens[0] ?? newToken();',
    ],
    [
      'a session outlives its key',
      'on api_keys.id = console_sessions.key_id and ${isValid} and',
      'on api_keys.id = console_sessions.key_id and',
    ],
    ['a session never ends', "created_at > now() - interval '7 days'", 'created_at is not null'],
    ['a session is never idle', "last_used_at > now() - interval '12 hours'", 'last_used_at is not null'],
  ]),
  ...inFile(`${accounts}/key-watch.ts`, consoleSessions, [
    ['a stream outlives its session', 'const id = sessionId ?? keyId;', 'const id = keyId;'],
  ]),
  ...inFile(`${accounts}/keys.ts`, keyEnds, [
    [
      'keys never expire',
      'revoked_at is null and (expires_at is null or expires_at > now())',
      'revoked_at is null',
    ],
    ['keys cannot be revoked', 'revoked_at is null and (expires_at is', '(expires_at is'],
    ['only the beginning of a key counts', '.update(key).digest()', '.update(key.slice(0, 30)).digest()'],
  ]),
  ...inFile('packages/contract/src/api-key.ts', authentication, [
    ['the checksum of a key does not count', ' && text.endsWith(keyChecksum(body))', ''],
  ]),
  ...inFile(
    `${accounts}/keys.ts`,
    ['apps/server/test/claims.int.test.ts'],
    [['an account gets one key too many', 'used >= keysMax', 'used > keysMax']],
  ),
  ...inFile(
    `${accounts}/keys.ts`,
    ['e2e/account.e2e.test.ts'],
    [['a key gives scopes that it lacks', 'if (lacking !== undefined) {', 'if (lacking === null) {']],
  ),

  ...inFile(`${server}/http/handlers.ts`, scopes, [
    ['scopes are not checked', 'assertScope(principal, operation);', ''],
  ]),
  ...inFile('packages/contract/src/readers.ts', scopes, [
    withoutScope('AckMatches', 'matches:read'),
    withoutScope('ListReaders', 'matches:read'),
    withoutScope('DeleteReader', 'matches:read'),
    [
      'GET /matches/stream needs no scope',
      "path: '/matches/stream',\n    scope: 'matches:read',",
      "path: '/matches/stream',\n    scope: null,",
    ],
  ]),
  ...inFile('packages/contract/src/coverage.ts', scopes, [withoutScope('GetCoverage', 'matches:read')]),
  ...inFile('packages/contract/src/webhook-deliveries.ts', scopes, [
    withoutScope('ListDeliveries', 'webhooks:read'),
  ]),
  ...inFile('packages/contract/src/webhooks.ts', scopes, [
    [
      'a key that reads webhooks rotates their secrets',
      asksFor('RotateWebhookSecret', "'webhooks:write'"),
      asksFor('RotateWebhookSecret', "'webhooks:read'"),
    ],
  ]),

  ...inFile(`${accounts}/rate-limits.ts`, limits, [
    ['requests are not limited', 'if (empty) return refuse(tooMany(empty, contact));', ''],
    ['one request too many is under way', 'running >= inFlightMax', 'running > inFlightMax'],
    [
      'the account has no limit of its own',
      'perMinute: 2 * requestsPerMinute',
      'perMinute: 200 * requestsPerMinute',
    ],
    ['changes are not counted', '...(changes ? [', '...(false ? ['],
    [
      'a refused request gives back a place',
      'release: () => undefined,',
      'release: () => release(accountId),',
    ],
    ['releasing twice gives back two places', 'if (!released) release(accountId);', 'release(accountId);'],
    ['one stream too many is open', 'used >= perKeyMax', 'used > perKeyMax'],
  ]),
  ...inFile(`${accounts}/token-bucket.ts`, limits, [
    ['who was silent for an hour has saved up', 'Math.min(perMinute, tokens + gained)', 'tokens + gained'],
    ['the last request is given away twice', 'tokens >= 1 ?', 'tokens >= 0 ?'],
  ]),

  ...accountMutations,
  ...digestMutations,
  ...oauthMutations,
  ...sightMutations,
  ...chatMutations,

  ...inFile(
    `${server}/runtime/cursor.ts`,
    [`${server}/runtime/cursor.unit.test.ts`],
    [
      ['any signature will do', 'timingSafeEqual(signature, sign(key, scope, position))', 'true'],
      ['cursors of the former secret are refused', 'keys.some(', 'keys.slice(0, 1).some('],
      ['cursors of other accounts are taken', '[scope.accountId, scope.filter]', '[scope.filter]'],
      ['cursors of other lists are taken', '[scope.accountId, scope.filter]', '[scope.accountId]'],
      ['other spellings of a cursor are taken', "cursor === prefix + bytes.toString('base64url') &&", ''],
      [
        'the secret of the installation does not count',
        'createSecretKey(secret)',
        'createSecretKey(Buffer.alloc(32))',
      ],
    ],
  ),

  ...inFile(`${webhooks}/public-address.ts`, addresses, [
    ['the metadata service of clouds is public', "  '169.254.0.0/16',\n", ''],
    ['private networks are public', "  '10.0.0.0/8',\n", ''],
    ["Azure's own address is public", "  '168.63.129.16/32',\n", ''],
    ['6to4 hides a private address', "'2002::/16', ", ''],
    ['an address with a zone is public', "if (address.includes('%')) return false;", ''],
    ['every IPv6 address is public', 'global.check(address, ', "address === '' || (address, "],
  ]),
  ...inFile(`${webhooks}/guarded-connector.ts`, connections, [
    [
      'only the first address of a name is checked',
      'addresses.every(isAllowed)',
      'addresses.slice(0, 1).every(isAllowed)',
    ],
    [
      'only the last address of a name is checked',
      'addresses.every(isAllowed)',
      'addresses.slice(-1).every(isAllowed)',
    ],
    ['one public address speaks for all', 'addresses.every(isAllowed)', 'addresses.some(isAllowed)'],
    [
      'only as many addresses are checked as are tried',
      'addresses.every(isAllowed)',
      'addresses.slice(0, addressesMax).every(isAllowed)',
    ],
    ['the name is looked up again', 'hostname: address, protocol', 'hostname: host, protocol'],
    ['the name does not count for TLS', "protocol === 'https:' && isIP(host) === 0 ?", "protocol === '' ?"],
    ['plain HTTP looks the name up', "protocol === 'https:' && isIP(host)", 'isIP(host)'],
    [
      'one address of this machine permits plain HTTP',
      '!addresses.every(isLoopback)',
      '!addresses.some(isLoopback)',
    ],
  ]),
  ...inFile(`${webhooks}/sender.ts`, connections, [
    ['a URL is not checked again at sending', 'if (problem !== null) return', "if (problem === '') return"],
  ]),
  ...inFile(
    `${webhooks}/secrets.ts`,
    [`${webhooks}/secrets.unit.test.ts`],
    [
      ['secrets are sealed with the same nonce', 'randomBytes(nonceLength)', 'Buffer.alloc(nonceLength)'],
      ['secrets of the old key cannot be opened', '[key, ...older]', '[key]'],
    ],
  ),
  ...inFile(
    `${webhooks}/secrets.ts`,
    [`${webhooks}/sign.unit.test.ts`],
    [
      [
        'the signature of a webhook leaves out the time',
        '.${timestamp}.${message.body}',
        '..${message.body}',
      ],
      ['the signature of a webhook leaves out the body', '.${timestamp}.${message.body}', '.${timestamp}.'],
    ],
  ),

  ...inFile(`${server}/engines/leases.ts`, leases, [
    ['a lease is taken from its holder', 'where leases.expires_at < now()', 'where true'],
    ['a new holder has the old epoch', 'greatest(leases.epoch + 1, excluded.epoch)', 'leases.epoch'],
    ['an epoch repeats after a restore', 'greatest(leases.epoch + 1, excluded.epoch)', 'leases.epoch + 1'],
    ['a late holder goes on writing', 'if (!row) throw new LeaseLost(lease);', ''],
    ['the epoch of a lease does not count', ' and epoch = $3', ' and $3::int8 > 0'],
    ['the holder of a lease does not count', ' and holder = $2', " and $2 <> ''"],
    ['a takeover does not wait for a write', '${isHeld} for share`, keyOf', '${isHeld}`, keyOf'],
    ['a late holder writes single statements', 'if (written.length === 0) throw new LeaseLost(lease);', ''],
    ['who lost its lease works on', 'if (renewed === false) return;', ''],
    ['who cannot renew works on', 'ttlMs * 0.6', 'ttlMs * 6'],
    ['anybody renews', "'1 ms' where ${isHeld} r", "'1 ms' where name = $1 and $2 <> '' and $3::int8 > 0 r"],
    [
      'anybody releases',
      "'1 second' where ${isHeld}`",
      "'1 second' where name = $1 and $2 <> '' and $3::int8 > 0`",
    ],
  ]),
  ...inFile(
    `${server}/engines/leases.ts`,
    ['apps/server/test/registrar-faults.int.test.ts'],
    [['fenced writes are not', 'await assertLease(sql, lease);', '']],
  ),

  ...inFile(
    `${server}/observability/logger.ts`,
    [`${server}/observability/logger.unit.test.ts`],
    [
      ['fields with secrets are logged', '[field, `*.${field}`]', '[]'],
      ['fields with secrets are logged one level down', '[field, `*.${field}`]', '[field]'],
      ['secrets in texts are logged', "line.replace(secretTexts, '$1$2[Redacted]')", 'line'],
      ['API keys in texts are logged', '(esk_|whsec_)', '(whsec_)'],
      ['tokens in headers are logged', '(Bearer )', '(Bearer  )'],
    ],
  ),

  ...inFile(`${doctor}/run-doctor.ts`, doctorTests, [
    ['the doctor leaves its rules behind', 'return await platform.undo(calm);', 'return 0;'],
    ['the doctor runs beside Earshot', 'isAllowed || earshotRules + openStreams === 0', 'isAllowed !== null'],
    ['the doctor spends what it was not given', 'usdLeft + 1e-9', 'usdLeft + 1e9'],
    [
      'the doctor has posts of others billed',
      'if (step.opensStream && hasOthers)',
      'if (!hasOthers && !hasToken)',
    ],
  ]),
  ...inFile(`${doctor}/firehose/stream.ts`, doctorTests, [
    ['the doctor has kept pages billed', 'if (!bench.isTapIdle)', 'if (bench.hasOthers)'],
  ]),
  ...inFile(`${doctor}/http.ts`, doctorTests, [
    ['the doctor tells its token', "text.replaceAll(token, '[secret]')", 'text'],
  ]),
  ...inFile(`${doctor}/redacted.ts`, doctorTests, [
    ['the doctor tells ids', ".replaceAll(/\\d{6,}/g, '[number]')", ''],
    ['the doctor tells half of an id', 'redacted(text).slice(0, lengthMax)', 'text.slice(0, lengthMax)'],
  ]),
];
