import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BadConfig, readConfig } from './config.ts';
import { settings } from './settings.ts';

const needed = {
  EARSHOT_DATABASE_URL: 'postgres://earshot:secret@db.example:5432/earshot',
  EARSHOT_NATS_URL: 'nats://n1.example:4222,nats://n2.example:4222',
};

function problemsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof BadConfig) return error.message;
    throw error;
  }
  return '';
}

describe('the configuration', () => {
  test('treats an empty variable as missing, and ignores other programs', () => {
    const config = readConfig({ ...needed, EARSHOT_PORT: '', PATH: '/bin', NOT_EARSHOT_X: '1' });
    expect(config.port).toBe(8080);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('ignores the variables that the README has callers set', () => {
    expect(problemsOf({ ...needed, EARSHOT_URL: 'http://127.0.0.1:8080', EARSHOT_API_KEY: 'esk_' })).toBe('');
  });

  test('reads lists and credentials', () => {
    const config = readConfig({
      ...needed,
      EARSHOT_ROLES: 'api, match',
      EARSHOT_X_TOKENS: 'main=AAA=%2B,second=b',
      EARSHOT_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1, 2001:db8::/32, ::1',
    });
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1']);
    expect(config.roles).toEqual(['api', 'match']);
    expect(config.xTokens).toEqual([
      { name: 'main', token: 'AAA=%2B' },
      { name: 'second', token: 'b' },
    ]);
  });

  test('names every missing setting at once', () => {
    expect(problemsOf({})).toMatch(/EARSHOT_DATABASE_URL is missing[^]*EARSHOT_NATS_URL is missing/);
  });

  test('refuses an unknown variable', () => {
    expect(problemsOf({ ...needed, EARSHOT_PROT: '80' })).toContain('EARSHOT_PROT is not a setting');
  });
});

describe('EARSHOT_TEST', () => {
  test('sets switches, and the last of several values counts', () => {
    const switches = 'leaseTtlMs=1500,crashAt=create.begin,,leaseTtlMs=800';
    expect(readConfig({ ...needed, EARSHOT_TEST: switches })).toMatchObject({
      leaseTtlMs: 800,
      crashAt: 'create.begin',
      switched: ['leaseTtlMs', 'crashAt'],
    });
  });

  test.each([
    ['leaseTTLMs=800', 'leaseTTLMs'],
    ['leaseTtlMs=499', 'leaseTtlMs'],
    ['crashAt=nowhere', 'crashAt'],
    ['upstreamPace=fast', 'upstreamPace'],
    ['leaseTtlMs', 'leaseTtlMs'],
  ])('%s is refused with the name of the switch', (switches, name) => {
    const problems = problemsOf({ ...needed, EARSHOT_TEST: switches });
    expect(problems).toContain('EARSHOT_TEST has a bad value');
    expect(problems).toContain(name);
  });
});

describe('the variables of OpenTelemetry', () => {
  test('are read, and those of other programs are ignored', () => {
    const config = readConfig({
      ...needed,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20bWU6aXQ=,x-tenant=a%2Cb',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_METRICS_EXPORTER: 'none',
    });
    expect(config).toMatchObject({
      otlpUrl: 'http://collector:4318',
      otlpHeaders: { authorization: 'Basic bWU6aXQ=', 'x-tenant': 'a,b' },
      tracesRatio: 0.5,
    });
  });
});

test.each([
  ['usd=100/day', { day: 100, month: null }],
  ['usd=1000/month, usd=99.5/day', { day: 99.5, month: 1000 }],
])('the budget %s is read', (text, budget) => {
  expect(readConfig({ ...needed, EARSHOT_BUDGET: text }).budget).toEqual(budget);
});

/** What Kubernetes 1.31 sets in the pods beside a Service "earshot" and one "earshot-metrics". */
const serviceLinks = {
  EARSHOT_SERVICE_HOST: '10.96.0.10',
  EARSHOT_SERVICE_PORT: '8080',
  EARSHOT_SERVICE_PORT_HTTP: '8080',
  EARSHOT_PORT: 'tcp://10.96.0.10:8080',
  EARSHOT_PORT_8080_TCP: 'tcp://10.96.0.10:8080',
  EARSHOT_PORT_8080_TCP_PROTO: 'tcp',
  EARSHOT_PORT_8080_TCP_PORT: '8080',
  EARSHOT_PORT_8080_TCP_ADDR: '10.96.0.10',
  EARSHOT_METRICS_SERVICE_HOST: '10.96.0.11',
  EARSHOT_METRICS_PORT: 'tcp://10.96.0.11:9464',
};

test('the Kubernetes service links of a Service named like our prefix change nothing, and hide no typing mistake', () => {
  expect(readConfig({ ...needed, ...serviceLinks })).toEqual(readConfig(needed));
  const problems = problemsOf({ ...needed, ...serviceLinks, EARSHOT_PORT: 'http', EARSHOT_SERVICE: 'a' });
  expect(problems).toMatch(/EARSHOT_SERVICE is not a setting[^]*EARSHOT_PORT has a bad value/);
  expect(problems.split('\n')).toHaveLength(3);
});

describe('a secret in a file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'earshot-config-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const fileWith = (content: string) => {
    const file = join(dir, randomUUID());
    writeFileSync(file, content);
    return file;
  };
  const { EARSHOT_NATS_URL: natsUrl, EARSHOT_DATABASE_URL: databaseUrl } = needed;

  test('is read, without its last newline', () => {
    const config = readConfig({
      EARSHOT_DATABASE_URL_FILE: fileWith(`${databaseUrl}\n`),
      EARSHOT_NATS_URL_FILE: fileWith(natsUrl),
      EARSHOT_X_TOKENS_FILE: fileWith('main=a \n'),
      EARSHOT_FIREHOSE_TOKENS_FILE: fileWith('tap=b\r\n'),
      EARSHOT_SECRETS_KEY_FILE: fileWith(`${Buffer.alloc(32, 7).toString('base64')}\n`),
      EARSHOT_ACCOUNT_DATABASE_URL_FILE: '',
    });
    expect(config).toMatchObject({
      databaseUrl,
      natsUrl,
      xTokens: [{ name: 'main', token: 'a' }],
      firehoseTokens: [{ name: 'tap', token: 'b' }],
      secretsKey: [Buffer.alloc(32, 7)],
      accountDatabaseUrl: undefined,
    });
  });

  test('is refused if its variable is set too, even with the same value', () => {
    const file = fileWith(databaseUrl);
    expect(problemsOf({ ...needed, EARSHOT_DATABASE_URL_FILE: file })).toContain(
      'EARSHOT_DATABASE_URL and EARSHOT_DATABASE_URL_FILE are both set',
    );
  });

  test.each([
    [
      'that is not there',
      '/nowhere/secret',
      'EARSHOT_DATABASE_URL_FILE names a file that cannot be read (ENOENT)',
    ],
    ['that is a folder', dir, 'EARSHOT_DATABASE_URL_FILE names a file that cannot be read (EISDIR)'],
    ['that is empty', fileWith('\n'), 'EARSHOT_DATABASE_URL_FILE names an empty file'],
    ['with something else', fileWith('hunter2'), 'EARSHOT_DATABASE_URL_FILE has a bad value'],
  ])('%s is refused with the name of the setting, and its content is not shown', (_, file, words) => {
    const problems = problemsOf({ EARSHOT_NATS_URL: natsUrl, EARSHOT_DATABASE_URL_FILE: file });
    expect(problems).toContain(words);
    expect(problems).not.toMatch(/hunter2|nowhere|earshot-config-/);
    expect(problems.split('\n')).toHaveLength(2);
  });

  test('works for secrets only', () => {
    expect(problemsOf({ ...needed, EARSHOT_PORT_FILE: '/dev/null' })).toContain(
      'EARSHOT_PORT_FILE is not a setting',
    );
  });
});

test('EARSHOT_OAUTH_ISSUER requires EARSHOT_PUBLIC_URL', () => {
  const issuer = { EARSHOT_OAUTH_ISSUER: 'https://login.example.com/tenant' };
  expect(problemsOf({ ...needed, ...issuer })).toContain('EARSHOT_OAUTH_ISSUER needs EARSHOT_PUBLIC_URL');
  const both = { ...needed, ...issuer, EARSHOT_PUBLIC_URL: 'https://earshot.example.com' };
  expect(readConfig(both)).toMatchObject({ oauthIssuer: 'https://login.example.com/tenant' });
});

describe('the judge', () => {
  const [url, model] = [{ EARSHOT_JUDGE_URL: 'http://127.0.0.1:11434/v1' }, { EARSHOT_JUDGE_MODEL: 'small' }];

  test.each([
    ['EARSHOT_JUDGE_MODEL', url],
    ['EARSHOT_JUDGE_URL', model],
  ])('is refused without %s, in two sentences', (missing, given) => {
    expect(problemsOf({ ...needed, ...given }).split('\n')[1]).toBe(
      `  ${missing} is missing. Set both EARSHOT_JUDGE_URL and EARSHOT_JUDGE_MODEL, or neither.`,
    );
  });

  test('is free by default, and limited to a dollar a day if it has a price', () => {
    expect(readConfig({ ...needed, ...url, ...model })).toMatchObject({
      judgePrice: { input: 0, output: 0 },
    });
    const priced = readConfig({ ...needed, ...url, ...model, EARSHOT_JUDGE_PRICE: '0.15, 0.60' });
    expect(priced).toMatchObject({ judgePrice: { input: 0.15, output: 0.6 }, judgeUsdPerDay: 1 });
  });
});

/** Values that each setting refuses; a setting without any does not compile. */
const bad: Record<keyof typeof settings, readonly string[]> = {
  databaseUrl: ['mysql://a/b', 'nonsense'],
  accountDatabaseUrl: ['mysql://a/b'],
  migrationDatabaseUrl: ['nonsense'],
  migrateAtStart: ['perhaps'],
  natsUrl: ['localhost:4222', 'nats://a,b', 'nats://me:100%@a'],
  natsCredsFile: [],
  natsCaFile: [],
  natsCertFile: [],
  natsKeyFile: [],
  roles: ['api,webhook', ','],
  host: [],
  port: ['-1', '65536', '80.5', 'http'],
  trustedProxies: ['proxy.example.com', '10.0.0.0/33', '0.0.0.0/0', '::/0', 'loopback'],
  console: ['yes', 'ON'],
  publicUrl: ['earshot.example.com', 'http://earshot.example.com', 'https://a.example/b', 'ftp://a.example'],
  oauthIssuer: ['login.example.com', 'http://login.example.com', 'ftp://a.example'],
  metricsHost: [],
  metricsPort: ['-1', 'x'],
  xTokens: ['token', 'main=', 'MAIN=a', '=a', 'a=1,a=2'],
  firehoseTokens: ['token', 'tap=1,tap=2'],
  xBaseUrl: ['api.x.com'],
  firehoseBaseUrl: ['nonsense'],
  blueskyUrl: ['https://example.com', 'nonsense'],
  drainSources: ['second', 'y:second', 'x:SECOND'],
  accountSharePercent: ['0', '101', 'half'],
  secretsKey: ['secret', 'AAAA', 'A'.repeat(64), `${'A'.repeat(43)}=,secret`],
  smtpUrl: [
    'mail.example.com',
    'http://mail.example.com',
    'smtps://mail.example.com?tls.rejectUnauthorized=false',
  ],
  mailFrom: ['Earshot', 'a@b.example, c@d.example'],
  mailTo: ['example.com', '@', 'a@b.example c@d.example'],
  xPlan: ['free'],
  xExpansions: ['some'],
  xSearch: ['everything'],
  xSearchPostsPerDay: ['-1', 'many'],
  xCompliance: ['on', 'hourly'],
  prices: [
    '0.005',
    'x.post=0.004',
    'x.like=1,as_of=2027-01-31',
    'x.post=-1,as_of=2027-01-31',
    'as_of=2027-02-31',
  ],
  ruleBudget: ['5', 'usd=0/day', 'usd=5/week', 'usd=5/day:sample'],
  budget: [
    '100',
    'usd=0/day',
    'usd=5/week',
    'usd=5/day,usd=6/day',
    'matches=5/day',
    'usd=5/day:notify',
    'usd=2000000/day',
  ],
  supportContact: [],
  eventsBytesMax: ['0'],
  retentionDays: ['7', '3651', 'ever'],
  judgeUrl: [
    '127.0.0.1:11434',
    'ftp://models.example',
    'http://me:key@models.example',
    'http://models.example?a=1',
  ],
  judgeModel: [],
  judgeKey: ['a b', 'a\nb', 'caf\u00e9'],
  judgePrice: ['0.15', '0.15,', '-1,0', '1,2,3', 'a,b'],
  judgeUsdPerDay: ['0', '-1', 'off'],
  otlpUrl: ['collector:4318', '127.0.0.1:4318', 'grpc://collector:4317', 'http://me:secret@collector:4318'],
  otlpTracesUrl: ['collector:4318/v1/traces', 'http://me:secret@collector:4318/v1/traces'],
  otlpHeaders: ['key', 'key=', '=value', 'a b=c', 'key=caf\u00e9', 'key=a\nb', 'key=%0a', 'key=100%'],
  tracesRatio: ['-0.1', '1.1', 'all'],
  logLevel: ['loud'],
};

const refused = Object.entries(bad).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);

test.each(refused)('%s refuses "%s" and names the setting', (name, value) => {
  const variable = Object.entries(settings).find(([one]) => one === name)?.[1].variable ?? '';
  const message = problemsOf({ ...needed, [variable]: value });
  expect(message).toContain(`${variable} has a bad value`);
  expect(message.split('\n')).toHaveLength(2);
});

describe('prices', () => {
  const pricesOf = (text?: string) =>
    readConfig({ ...needed, ...(text !== undefined && { EARSHOT_PRICES: text }) }).prices;

  test('keep the default of a platform if they are not set', () => {
    const listed = pricesOf();
    expect(listed).toEqual({
      as_of: '2026-08-22',
      usd: {
        'x.post': 0.005,
        'x.user': 0.01,
        'x.counts_recent': 0.005,
        'x.counts_all': 0.01,
        'firehose.page': 0.005,
      },
    });
    expect(pricesOf('x.user=0.008, as_of=2027-01-31')).toEqual({
      as_of: '2027-01-31',
      usd: { ...listed.usd, 'x.user': 0.008 },
    });
  });
});
