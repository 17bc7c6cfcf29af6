import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** A protection that is removed from the code, and the test file that must fail without it. */
export interface Mutation {
  /** A promise in docs/invariants.md; null for a mutation of a security boundary. */
  readonly promise: string | null;
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file: the runner and a unit test check this. */
  readonly find: string;
  readonly replace: string;
  /** The cheapest test file of the short run that fails. It must not call another machine, even without the protection. */
  readonly test: string;
}

type Change = readonly [name: string, find: string, replace: string];

const server = 'apps/server/src';
const int = 'apps/server/test';

const promised = (promise: string, file: string, test: string, [name, find, replace]: Change): Mutation => ({
  promise,
  name,
  file,
  find,
  replace,
  test,
});

const security = (file: string, test: string, changes: readonly Change[]): Mutation[] =>
  changes.map(([name, find, replace]) => ({ promise: null, name, file, find, replace, test }));

export const mutations: readonly Mutation[] = [
  promised('I1', `${server}/ingest/listen.ts`, `${int}/ingest.int.test.ts`, [
    'an item counts as consumed before the log has it',
    'const entry = consumed.begin(item.upstreamEventId);',
    'const entry = consumed.begin(item.upstreamEventId);\n      entry.done();',
  ]),
  promised('I2', 'apps/server/migrations/0006_matches.sql', `${int}/match-store.int.test.ts`, [
    'a rule and an event may have several matches',
    'primary key (rule_id, event_key, event_day)',
    'primary key (rule_id, event_key, event_day, position)',
  ]),
  promised('I3', 'apps/server/migrations/0006_matches.sql', `${int}/ordered-commits.int.test.ts`, [
    'a writer waits only for its predecessor',
    'own_ticket - 1, (select ticket + 1 from match_log), -1',
    'own_ticket - 1, own_ticket - 1, -1',
  ]),
  promised('I4', `${server}/slots/reconcile.ts`, `${server}/slots/reconcile.unit.test.ts`, [
    'upstream rules without a slot stay',
    "!slot || slot.state === 'failed' || slot.state === 'deleting'",
    "slot?.state === 'failed' || slot?.state === 'deleting'",
  ]),
  promised('I4a', `${server}/rules/rule-changes.sql.ts`, `${int}/rule-changes.int.test.ts`, [
    'a change gives up the old query at once',
    'then now() + $3 * interval',
    'then now() + 0 * $3::float8 * interval',
  ]),
  promised('I5', `${server}/matching/match-events.ts`, `${server}/matching/match-events.unit.test.ts`, [
    'a match that the server does not understand is dropped',
    'if (isFromBefore(event, holder.heldSince)) continue;',
    'if (isFromBefore(event, holder.heldSince) || !event.payload.text?.includes(holder.value)) continue;',
  ]),
  promised('I6', `${server}/ingest/coverage-intervals.sql.ts`, `${int}/coverage-store.int.test.ts`, [
    'coverage continues until a dead process is replaced',
    "ended_because = 'process_died', proven_until = coalesce(received_until, proven_until)",
    "ended_because = 'process_died', proven_until = now()",
  ]),
  promised('I7', `${server}/engines/database.ts`, `${int}/row-security.int.test.ts`, [
    'an account sees the rows of all accounts',
    "accountUrl === undefined ? 'set local role earshot_account; ' : ''",
    "''",
  ]),
  promised('I7a', `${server}/http/handlers.ts`, 'e2e/scopes.e2e.test.ts', [
    'scopes are not checked',
    'if (operation.scope !== null) assertScope(principal, operation.scope);',
    '',
  ]),
  promised('I8', `${server}/upstream/read-item.ts`, `${server}/upstream/read-item.unit.test.ts`, [
    'an item of any depth is parsed',
    'if (reason !== null) return dropItem(source, reason);',
    '',
  ]),
  promised('I9', `${server}/budgets/assert-affordable.ts`, `${int}/key-budgets.int.test.ts`, [
    'a rule starts while a budget is spent',
    "if (change.kind === 'start') await assertNotReached(options, subjects);",
    '',
  ]),

  ...security(`${server}/accounts/authenticate.ts`, `${server}/accounts/authenticate.unit.test.ts`, [
    ['a key is remembered for ever', 'if (known && known.until > nowMs())', 'if (known)'],
    ['unknown keys are not counted', 'known ? null : guesses.failed(address)', 'null'],
    ['every address of an IPv6 network has its own guesses', '.slice(0, 4)', ''],
  ]),
  ...security(`${server}/accounts/rate-limits.ts`, `${server}/accounts/rate-limits.unit.test.ts`, [
    ['requests are not limited', 'if (empty) return refuse(tooMany(empty, contact));', ''],
  ]),
  ...security(`${server}/accounts/keys.ts`, `${int}/key-budgets.int.test.ts`, [
    [
      'a key with a budget creates a key with another one',
      "if (budget && callingKey.spends_from !== null) return { kind: 'calling_key_has_budget' };",
      '',
    ],
  ]),
  ...security(`${server}/http/server.ts`, `${server}/http/server.unit.test.ts`, [
    ['an API key is taken as a request id', ' && !isWellFormedKey(sent)', ''],
  ]),
  ...security(`${server}/http/console-session.ts`, 'e2e/console-session.e2e.test.ts', [
    ['a session counts for every site', "site === 'same-origin'", 'true'],
    ['a session counts beside a key', 'authorization !== undefined || ', ''],
  ]),
  ...security(`${server}/accounts/console-sessions.ts`, 'e2e/console-session.e2e.test.ts', [
    [
      'a sign-in link never expires',
      "const isFresh = `created_at > now() - interval '${linkSeconds} seconds'`;",
      "const isFresh = 'true';",
    ],
    [
      'a session outlives its key',
      'on api_keys.id = console_sessions.key_id and ${isValid} and',
      'on api_keys.id = console_sessions.key_id and',
    ],
  ]),
  ...security(`${server}/runtime/cursor.ts`, `${server}/runtime/cursor.unit.test.ts`, [
    ['any signature is accepted', 'timingSafeEqual(signature, sign(key, scope, position))', 'true'],
    ['cursors of other accounts are accepted', '[scope.accountId, scope.filter]', '[scope.filter]'],
  ]),
  ...security(`${server}/webhooks/public-address.ts`, `${server}/webhooks/public-address.unit.test.ts`, [
    ['the metadata service of clouds is public', "  '169.254.0.0/16',\n", ''],
    ['6to4 hides a private address', "'2002::/16', ", ''],
  ]),
  ...security(`${server}/webhooks/guarded-connector.ts`, `${server}/webhooks/guard-connect.unit.test.ts`, [
    ['one public address is enough', 'addresses.every(isAllowed)', 'addresses.some(isAllowed)'],
    ['a checked name is resolved again', 'hostname: address, protocol', 'hostname: host, protocol'],
  ]),
  ...security(`${server}/webhooks/secrets.ts`, `${server}/webhooks/secrets.unit.test.ts`, [
    ['secrets are sealed with the same nonce', 'randomBytes(nonceLength)', 'Buffer.alloc(nonceLength)'],
  ]),
  ...security(`${server}/webhooks/secrets.ts`, `${server}/webhooks/sign.unit.test.ts`, [
    ['a signature leaves out the time', '.${timestamp}.${message.body}', '..${message.body}'],
  ]),
  ...security(`${server}/webhooks/formats/discord.ts`, `${int}/chat-injections.unit.test.ts`, [
    ['untrusted words are not escaped for Discord', "'\\\\$&'", "'$&'"],
  ]),
  ...security(`${server}/webhooks/formats/teams.ts`, `${int}/chat-injections.unit.test.ts`, [
    ['an untrusted tag reaches Teams', 'text: visible(text)', 'text'],
  ]),
  ...security(`${server}/digests/mailer.ts`, `${int}/digest-mail.int.test.ts`, [
    [
      'any mail server is trusted',
      'disableFileAccess: true,',
      'disableFileAccess: true,\n    tls: { rejectUnauthorized: false },',
    ],
  ]),
  ...security(`${server}/digests/send-digest-message.ts`, `${int}/digest-mail.int.test.ts`, [
    [
      'allowed recipients are not checked at sending',
      'isAllowed({ recipients: mailRecipients }, address)',
      'isAllowed({ recipients: mailRecipients }, address) || true',
    ],
  ]),
  ...security(`${server}/digests/render-mail.ts`, `${server}/digests/render-mail.unit.test.ts`, [
    ['mails contain untrusted links', 'const link = webAddress(url);', 'const link = url;'],
  ]),
  ...security(`${server}/engines/leases.ts`, `${int}/lease.int.test.ts`, [
    ['the epoch of a lease does not count', ' and epoch = $3', ' and $3::int8 > 0'],
  ]),
  ...security(`${server}/observability/logger.ts`, `${server}/observability/logger.unit.test.ts`, [
    ['secrets in texts are logged', "line.replace(secretTexts, '$1$2[Redacted]')", 'line'],
  ]),
  ...security(`${server}/oauth/access-tokens.ts`, `${int}/oauth.int.test.ts`, [
    ['a token outlives its key', 'and ${isValid}) as key', ') as key'],
    ['a token for another resource is accepted', "and token.payload->>'aud' = $2", "and ($2 = '' or true)"],
    ['a refresh token is an access token', "token.kind = 'AccessToken' and", ''],
  ]),
  ...security(`${server}/oauth/artefacts.sql.ts`, `${int}/oauth.int.test.ts`, [
    ['a code is consumed twice', 'and hash = $2 and consumed_at is null', 'and hash = $2'],
  ]),
  ...security(`${server}/http/oauth.ts`, `${int}/oauth-routes.int.test.ts`, [
    [
      'registrations are not limited',
      'if (path === registrationPath) assertWithin(registrations.failed(ip));',
      '',
    ],
  ]),
  ...security(`${server}/oauth/provider.ts`, `${int}/oauth-routes.int.test.ts`, [
    [
      'an error redirects to an unapproved client',
      "if (ctx.oidc.route === 'authorization') error.allow_redirect = false;",
      '',
    ],
  ]),
  ...security(`${server}/oauth/provider.ts`, 'e2e/oauth.e2e.test.ts', [
    ['PKCE may be left out', 'required: () => true', 'required: () => false'],
  ]),
  ...security(`${server}/oauth/authorization-server.ts`, 'e2e/oauth.e2e.test.ts', [
    ['a grant has scopes beyond the request', 'if (beyond !== undefined) throw', 'if (beyond === "") throw'],
    ['a request is decided several times', 'if (!(await interactions.consume(uid)))', 'if (uid === "")'],
    [
      'the name of a client has hidden characters',
      "(text ?? '').replaceAll(/[\\p{C}\\p{Zl}\\p{Zp}]/gu, '')",
      "(text ?? '')",
    ],
  ]),
  ...security(`${server}/oauth/fetch-metadata.ts`, `${server}/oauth/fetch-metadata.unit.test.ts`, [
    [
      'client metadata is fetched from any address',
      'if (problem !== null) throw',
      'if (problem === url) throw',
    ],
  ]),
];

/** A test that takes longer waits for something that the mutation prevents. */
const withinMs = 600_000;
const root = resolve(import.meta.dirname, '..');

/** Copies all files that git tracks or would add. Installed packages are links; links to our packages lead to the copy. */
function copyTree(copy: string): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const ours = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  const packages = ours
    .filter((path) => path.endsWith('/package.json'))
    .map((path) => path.replace('package.json', 'node_modules'));
  for (const path of [...ours, ...packages].filter((one) => existsSync(join(root, one))))
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  for (const path of ['node_modules', '.earshot'].filter((one) => existsSync(join(root, one))))
    symlinkSync(join(root, path), join(copy, path));
  // Some tests query git for the files.
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
}

interface Outcome {
  readonly result: 'passed' | 'failed' | 'broken';
  /** The first test that failed. */
  readonly failed: string;
}

async function runTests(copy: string, tests: readonly string[]): Promise<Outcome> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const args = ['run', '--reporter=json', `--outputFile=${report}`, ...tests];
  // Other projects would start PostgreSQL and NATS for nothing.
  const levels = new Set(tests.map((test) => /\.(unit|int|e2e)\.test\.ts$/.exec(test)?.[1] ?? ''));
  const projects = [...levels].map((level) => `--project=${level}*`);
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args, ...projects], { cwd: copy, stdio: 'ignore' });
  const clock = setTimeout(() => child.kill(), withinMs);
  const [, signal] = await new Promise<unknown[]>((done) => child.once('close', (...end) => done(end)));
  clearTimeout(clock);
  if (signal !== null) return { result: 'failed', failed: `did not end within ${withinMs / 1_000} s` };
  if (!existsSync(report)) return { result: 'broken', failed: '' };
  const { numPassedTests, success, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const all: { status: string; fullName: string }[] = testResults.flatMap(
    (file: { assertionResults: unknown }) => file.assertionResults,
  );
  const failed = all.find(({ status }) => status === 'failed')?.fullName;
  if (failed !== undefined) return { result: 'failed', failed };
  // A file that cannot be loaded has no failed tests, but is not a success.
  return { result: success && numPassedTests > 0 ? 'passed' : 'broken', failed: '' };
}

async function runMutation(copy: string, { file, find, replace, test }: Mutation): Promise<Outcome> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2)
    throw new Error(`${file} must contain this text exactly once: ${find}\nUpdate the mutation.`);
  // A function, because "$1" has a meaning in a replacement string.
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    return await runTests(copy, [test]);
  } finally {
    writeFileSync(path, text);
  }
}

/**
 * `pnpm test:mutations [--promises] [--only TEXT]`: applies each mutation to a copy of the working tree and runs its test.
 * Prints a table of the failed tests. Fails if a test passes with its mutation, or fails without one.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { promises: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
  });
  const chosen = mutations.filter(
    ({ promise, name, file }) =>
      (!values.promises || promise !== null) && `${name} ${file}`.includes(values.only),
  );
  const copy = mkdtempSync(join(tmpdir(), 'earshot-mutations-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  copyTree(copy);

  const tests = [...new Set(chosen.map(({ test }) => test))];
  const { result, failed } = await runTests(copy, tests);
  if (result !== 'passed') throw new Error(`A test fails without a mutation. Fix this first. ${failed}`);
  console.log(`${tests.length} test files pass without a mutation.\n`);

  console.log('| Promise | Mutation | Test that failed | Seconds |\n|---|---|---|---|');
  for (const mutation of chosen) {
    const startedAt = performance.now();
    const outcome = await runMutation(copy, mutation);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const what = outcome.result === 'failed' ? outcome.failed : `NONE: the tests ${outcome.result}`;
    console.log(
      `| ${mutation.promise ?? ''} | ${mutation.name} | \`${mutation.test}\`: ${what} | ${seconds} |`,
    );
    if (outcome.result !== 'failed') process.exitCode = 1;
  }
}

if (import.meta.main) await main();
