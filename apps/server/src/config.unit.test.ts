import { describe, expect, test } from 'vitest';
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
  test('has a default for everything but the engines', () => {
    expect(readConfig(needed)).toMatchObject({
      roles: ['api', 'ingest', 'match', 'deliver'],
      host: '127.0.0.1',
      port: 8080,
      metricsHost: '127.0.0.1',
      metricsPort: 9464,
      xTokens: [],
      firehoseTokens: [],
      xBaseUrl: 'https://api.x.com',
      firehoseBaseUrl: 'https://api.firehose.com',
      eventsReplicas: 1,
      leaseTtlMs: 10_000,
      logLevel: 'info',
      crashAt: undefined,
    });
  });

  test('takes an empty variable for a missing one, and does not mind other programs', () => {
    const config = readConfig({ ...needed, EARSHOT_PORT: '', PATH: '/bin', NOT_EARSHOT_X: '1' });
    expect(config.port).toBe(8080);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('does not mind what the README has callers set', () => {
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

  test('refuses a variable that it does not know', () => {
    expect(problemsOf({ ...needed, EARSHOT_PROT: '80' })).toContain('EARSHOT_PROT is not a setting');
  });
});

/** Values that each setting refuses: a setting without any does not compile. */
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
  metricsHost: [],
  metricsPort: ['-1', 'x'],
  xTokens: ['token', 'main=', 'MAIN=a', '=a', 'a=1,a=2'],
  firehoseTokens: ['token', 'tap=1,tap=2'],
  xBaseUrl: ['api.x.com'],
  firehoseBaseUrl: ['nonsense'],
  xRuleCapacity: ['0', '-5', 'many'],
  firehoseRuleCapacity: ['0'],
  drainSources: ['second', 'y:second', 'x:SECOND'],
  upstreamPace: ['0', 'fast'],
  accountSharePercent: ['0', '101', 'half'],
  premiumRulesMax: ['0', '1.5'],
  freePremiumRulesMax: ['-1', '1.5'],
  requestsPerMinute: ['0', 'many'],
  freeRequestsPerMinute: ['0'],
  changesPerMinute: ['0'],
  freeChangesPerMinute: ['0'],
  keysMax: ['0'],
  freeKeysMax: ['0'],
  webhooksMax: ['0'],
  freeWebhooksMax: ['-1'],
  secretsKey: ['secret', 'AAAA', 'A'.repeat(64)],
  allowInsecureWebhooks: ['perhaps'],
  readersMax: ['0'],
  freeReadersMax: ['0'],
  streamsPerKeyMax: ['0'],
  requestsInFlightMax: ['0'],
  mcpOrigins: ['agents.example.com', 'https://agents.example.com/'],
  mcpConfirmUsd: ['-1', '$5'],
  keepOldValueMs: ['-1', '600001', 'long'],
  xRuleDelayMs: ['-1', '600001', 'long'],
  xPlan: ['free'],
  xExpansions: ['some'],
  xSearch: ['everything'],
  xSearchPostsPerDay: ['-1', 'many'],
  xCountsPerDay: ['-1', 'many'],
  xCompliance: ['on', 'hourly'],
  prices: [
    '0.005',
    'x.post=0.004',
    'x.like=1,as_of=2027-01-31',
    'x.post=-1,as_of=2027-01-31',
    'as_of=2027-02-31',
  ],
  ruleBudget: ['5', 'usd=0/day', 'usd=5/week', 'usd=5/day:sample'],
  budgetUsdPerDay: ['0', '-5', 'much'],
  budgetUsdPerMonth: ['0', '-5', 'much'],
  supportContact: [],
  eventsReplicas: ['2', '5'],
  eventsBytesMax: ['0'],
  retentionDays: ['7', '3651', 'ever'],
  matchWorkers: ['0', '65'],
  leaseTtlMs: ['499', '60001'],
  drainDelayMs: ['-1', '60001'],
  logLevel: ['loud'],
  crashAt: ['nowhere'],
};

const refused = Object.entries(bad).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);

test.each(refused)('%s refuses "%s" and is named', (name, value) => {
  const variable = Object.entries(settings).find(([one]) => one === name)?.[1].variable ?? '';
  const message = problemsOf({ ...needed, [variable]: value });
  expect(message).toContain(`${variable} has a bad value`);
  expect(message.split('\n')).toHaveLength(2);
});

describe('prices', () => {
  const pricesOf = (text?: string) =>
    readConfig({ ...needed, ...(text !== undefined && { EARSHOT_PRICES: text }) }).prices;

  test('that are not named keep what the price lists of the platforms said', () => {
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

  test.each([
    ['x.post=0.004', 'as_of is missing'],
    ['x.like=1,as_of=2027-01-31', '"x.like" is not a price: the prices are x.post, x.user'],
    ['x.post=cheap,as_of=2027-01-31', 'x.post is in US dollars, such as 0.005, not "cheap"'],
    ['as_of=2027-02-31', 'as_of is a day such as 2027-01-31, not "2027-02-31"'],
  ])('%s is refused in words that help', (text, words) => {
    expect(problemsOf({ ...needed, EARSHOT_PRICES: text })).toContain(words);
  });
});
