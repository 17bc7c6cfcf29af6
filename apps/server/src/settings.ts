import { z } from 'zod';
import { defaultPrices, formatPrices } from './billing/prices.ts';
import { digestSettings } from './digest-settings.ts';
import { planSettings } from './plan-settings.ts';
import {
  checkpoints,
  deliveryCheckpoints,
  digestCheckpoints,
  ingestCheckpoints,
} from './runtime/checkpoint.ts';
import * as accepted from './setting-values.ts';
import { defaultXExpansions, xCompliances, xExpansions, xPlans, xSearches } from './upstream/x/settings.ts';

/**
 * Every setting, once: its variable, what it accepts, its default and its documentation.
 * docs/configuration.md is generated from this table (`pnpm docs:write`).
 */
export const settings = {
  databaseUrl: {
    variable: 'EARSHOT_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl,
    about: 'PostgreSQL 15 or newer, as `postgres://user:password@host:port/database`.',
  },
  accountDatabaseUrl: {
    variable: 'EARSHOT_ACCOUNT_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl.optional(),
    about:
      'The same database by a login that sees the rows of one account at a time (`earshot_account` of `deploy/postgres-roles.sql`). Without it the login of `EARSHOT_DATABASE_URL` plays that role by `SET ROLE`, which protects from mistakes but not from injected SQL.',
  },
  migrationDatabaseUrl: {
    variable: 'EARSHOT_MIGRATION_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl.optional(),
    about:
      'The same database by the login that owns the tables, for migrations and for dropping days that are no longer kept: needed by nodes with the role `match`, and by the first that starts after an upgrade. Without it the login of `EARSHOT_DATABASE_URL` must be the owner.',
  },
  migrateAtStart: {
    variable: 'EARSHOT_MIGRATE_AT_START',
    schema: z.stringbool().default(true),
    about:
      'Whether the server migrates the database when it starts. With `false` it refuses to start until `earshot admin migrate --apply` has done it.',
  },
  natsUrl: {
    variable: 'EARSHOT_NATS_URL',
    isSecret: true,
    schema: accepted.natsAddresses,
    about:
      'nats-server 2.14.5 or newer with JetStream, as `nats://user:password@host:port`, `nats://token@host:port` or, to insist on TLS, `tls://…`; several addresses separated by commas, with one login for all. Special characters in a password are percent-encoded.',
  },
  natsCredsFile: {
    variable: 'EARSHOT_NATS_CREDS_FILE',
    schema: accepted.path.optional(),
    about: 'A NATS credentials file (`.creds`), in place of a login in `EARSHOT_NATS_URL`.',
  },
  natsCaFile: {
    variable: 'EARSHOT_NATS_CA_FILE',
    schema: accepted.path.optional(),
    about:
      'The certificate authority of the NATS servers (PEM), when it is one of your own. With it, TLS is insisted on. Address the servers by the names in their certificates.',
  },
  natsCertFile: {
    variable: 'EARSHOT_NATS_CERT_FILE',
    schema: accepted.path.optional(),
    about:
      'The certificate with which this node proves itself to the NATS servers (PEM), if they ask for one.',
  },
  natsKeyFile: {
    variable: 'EARSHOT_NATS_KEY_FILE',
    schema: accepted.path.optional(),
    about: 'The private key of `EARSHOT_NATS_CERT_FILE` (PEM).',
  },
  roles: {
    variable: 'EARSHOT_ROLES',
    schema: accepted.roles.default([...accepted.roleNames]),
    about:
      'What this node does: any of `api`, `ingest`, `match`, `deliver`, separated by commas. Default: all.',
  },
  host: {
    variable: 'EARSHOT_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address on which the API listens.',
  },
  port: {
    variable: 'EARSHOT_PORT',
    schema: accepted.port.default(8080),
    about: 'Port of the API; 0 takes a free one.',
  },
  trustedProxies: {
    variable: 'EARSHOT_TRUSTED_PROXIES',
    schema: accepted.list.pipe(z.array(accepted.addressRange)).default([]),
    about:
      'Addresses and CIDR ranges of the proxies in front of the API, separated by commas. The caller is then the last address in `X-Forwarded-For` that is not one of them. Default: none, and the header is ignored.',
  },
  console: {
    variable: 'EARSHOT_CONSOLE',
    schema: z.enum(['on', 'off']).default('on'),
    about:
      'Whether the API also serves [the console](console.md), at `/`. With `off` there are neither its pages nor its sessions.',
  },
  publicUrl: {
    variable: 'EARSHOT_PUBLIC_URL',
    schema: accepted.publicOrigin.optional(),
    about:
      'The origin at which browsers and programs reach this installation, such as `https://earshot.example.com`. With it, people can [authorize programs](mcp.md#oauth) such as claude.ai and ChatGPT for `/mcp` by OAuth, in the console, which must be on. By `https`, except on this machine.',
  },
  oauthIssuer: {
    variable: 'EARSHOT_OAUTH_ISSUER',
    schema: accepted.issuer.optional(),
    about:
      'An authorization server of your own, such as `https://login.example.com`, whose access tokens `/mcp` accepts in place of those that Earshot issues ([OAuth](mcp.md#your-own-issuer)). Written as in the claim `iss`. Needs `EARSHOT_PUBLIC_URL`.',
  },
  oauthAccountClaim: {
    variable: 'EARSHOT_OAUTH_ACCOUNT_CLAIM',
    schema: z.string().min(1).max(200).default('earshot_account'),
    about: 'The claim of these tokens that holds the id of the account (`acc_…`).',
  },
  metricsHost: {
    variable: 'EARSHOT_METRICS_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address on which `/metrics` listens. Whoever reaches it needs no key: never a public one.',
  },
  metricsPort: {
    variable: 'EARSHOT_METRICS_PORT',
    schema: accepted.port.default(9464),
    about:
      'Port of `/metrics` (Prometheus), and of `/healthz` and `/readyz` for nodes of every role; 0 takes a free one.',
  },
  xTokens: {
    variable: 'EARSHOT_X_TOKENS',
    isSecret: true,
    schema: accepted.credentials.default([]),
    about:
      'Bearer tokens of X apps as `name=token`, separated by commas; each is one stream with its own rules. X allows one production app for one use: [terms](upstreams/terms.md).',
  },
  firehoseTokens: {
    variable: 'EARSHOT_FIREHOSE_TOKENS',
    isSecret: true,
    schema: accepted.credentials.default([]),
    about: 'Tokens of Firehose taps as `name=token`, separated by commas.',
  },
  xBaseUrl: {
    variable: 'EARSHOT_X_BASE_URL',
    schema: z.url().default('https://api.x.com'),
    about: 'Where X is; the sandbox takes its place in development.',
  },
  firehoseBaseUrl: {
    variable: 'EARSHOT_FIREHOSE_BASE_URL',
    schema: z.url().default('https://api.firehose.com'),
    about: 'Where Firehose is; the sandbox takes its place in development.',
  },
  xRuleCapacity: {
    variable: 'EARSHOT_X_RULE_CAPACITY',
    schema: accepted.count.default(1_000),
    about: 'The most rules that are placed on one X app; fewer when X says that it takes fewer.',
  },
  firehoseRuleCapacity: {
    variable: 'EARSHOT_FIREHOSE_RULE_CAPACITY',
    schema: accepted.count.default(100_000),
    about:
      'The most rules that are placed on one Firehose tap. Firehose documents no number: fewer when it refuses more.',
  },
  drainSources: {
    variable: 'EARSHOT_DRAIN_SOURCES',
    schema: accepted.list.pipe(z.array(z.string().regex(accepted.sourceId))).default([]),
    about:
      'Sources to empty, as `x:name` or `firehose:name`, separated by commas; keep their tokens until they are. Nothing new is placed on them and their rules move to other sources of the platform.',
  },
  upstreamPace: {
    variable: 'EARSHOT_UPSTREAM_PACE',
    schema: z.coerce.number().min(1).max(10_000).default(1),
    about: 'For the sandbox and tests only: how many times faster the windows of upstream rate limits pass.',
  },
  accountSharePercent: {
    variable: 'EARSHOT_ACCOUNT_SHARE_PERCENT',
    schema: z.coerce.number().int().min(1).max(100).default(50),
    about:
      'How much of what the other accounts leave one account may use: of the rules that a platform takes, and of the calls that change them. 100 where all accounts are your own.',
  },
  ...planSettings,
  secretsKey: {
    variable: 'EARSHOT_SECRETS_KEY',
    isSecret: true,
    schema: accepted.aesKeys.optional(),
    about:
      'Encrypts the signing secrets of webhooks in the database: 32 random bytes in base64 (`openssl rand -base64 32`), the same on every node. Without it there are no webhooks; with another one, those that exist cannot be served. Several with commas between them while it is [rotated](operations/rotation.md): the first one encrypts, all of them decrypt.',
  },
  allowInsecureWebhooks: {
    variable: 'EARSHOT_ALLOW_INSECURE_WEBHOOKS',
    schema: z.stringbool().default(false),
    about:
      'For development only: webhooks may also go to this machine, by plain HTTP and on any port. Otherwise only to the public internet, by HTTPS on port 443 or 8443.',
  },
  ...digestSettings,
  streamsPerKeyMax: {
    variable: 'EARSHOT_STREAMS_PER_KEY_MAX',
    schema: accepted.count.default(5),
    about: 'Streams (`GET /matches/stream`) that one key may have open on one node.',
  },
  requestsInFlightMax: {
    variable: 'EARSHOT_REQUESTS_IN_FLIGHT_MAX',
    schema: accepted.count.default(32),
    about:
      'Requests of one account that one node answers at the same time, those that wait for matches included.',
  },
  mcpOrigins: {
    variable: 'EARSHOT_MCP_ORIGINS',
    schema: accepted.list.pipe(z.array(z.string().regex(/^[a-z][a-z0-9+.-]*:\/\/[^/]+$/))).default([]),
    about:
      'Origins of web pages that may call `/mcp`, such as `https://agents.example.com`, separated by commas. Programs send no `Origin` and need no entry.',
  },
  mcpConfirmUsd: {
    variable: 'EARSHOT_MCP_CONFIRM_USD',
    schema: z.coerce.number().min(0).default(5),
    about:
      'US dollars a day. A tool of `/mcp` creates or resumes a rule whose estimate is above that only when the user of the agent has agreed.',
  },
  keepOldValueMs: {
    variable: 'EARSHOT_KEEP_OLD_VALUE_MS',
    schema: z.coerce.number().int().min(0).max(600_000).default(20_000),
    about:
      'How long the old value of a changed rule stays registered beside the new one. X needs about 20 s to heed a new rule.',
  },
  xRuleDelayMs: {
    variable: 'EARSHOT_X_RULE_DELAY_MS',
    schema: z.coerce.number().int().min(0).max(600_000).default(20_000),
    about:
      'How long X needs to heed a new rule: the coverage of a rule begins that much after its registration, and a rule that moves to another source stays on its former one for that long.',
  },
  xPlan: {
    variable: 'EARSHOT_X_PLAN',
    schema: z.enum(xPlans).default('payg'),
    about:
      'What X sells you. With `enterprise` rules may have 2,048 characters instead of 1,024, and gaps of the last day are filled by recovery; otherwise, and what is older, by searching. `embedding` is `enterprise` with the Embedding tier, whose operators rules may use then.',
  },
  xExpansions: {
    variable: 'EARSHOT_X_EXPANSIONS',
    schema: z.enum(xExpansions).default(defaultXExpansions),
    about:
      'What X sends beside each post, and may charge: `none`, its `author` ($0.010), or in `full` also whom it mentions, what it refers to, media and places. `why` shows less with less; what matches is X’s verdict, whatever is sent.',
  },
  xSearch: {
    variable: 'EARSHOT_X_SEARCH',
    schema: z.enum(xSearches).default('recent'),
    about:
      'Where gaps are searched for: `recent` is the last week, `all` the whole archive, where your app has access to it; it also takes rules of up to 1,024 characters instead of 512.',
  },
  xSearchPostsPerDay: {
    variable: 'EARSHOT_X_SEARCH_POSTS_PER_DAY',
    schema: z.coerce.number().int().min(0).max(3_000_000).default(1_000),
    about:
      'Posts that gaps of X streams may be filled with per UTC day, by searching; each costs what a post of the stream costs ($0.005). 0 leaves gaps unrepaired.',
  },
  xCountsPerDay: {
    variable: 'EARSHOT_X_COUNTS_PER_DAY',
    schema: z.coerce.number().int().min(0).max(100_000).default(100),
    about: 'Calls of X’s counts for previews, per account and UTC day, $0.005 or $0.010 each; 0: none.',
  },
  xCompliance: {
    variable: 'EARSHOT_X_COMPLIANCE',
    schema: z.enum(xCompliances).default('off'),
    about:
      'With `daily`, X is asked once a day which of all kept posts were deleted, made private, suspended or withheld (batch compliance), and these are removed with their matches. Off unless told: the calls may be billed, and who keeps posts for a short time does not need it. X’s terms ask for it, or for something like it, of everybody who keeps posts for long.',
  },
  prices: {
    variable: 'EARSHOT_PRICES',
    schema: accepted.prices.prefault(() => formatPrices(defaultPrices())),
    about:
      'What the platforms charge, in US dollars, with the day on which you looked it up: `x.post=0.004,x.user=0.008,as_of=2027-01-31`. What is not named keeps its default. Costs are computed with these prices, also those of days before.',
  },
  ruleBudget: {
    variable: 'EARSHOT_RULE_BUDGET',
    schema: accepted.budget.prefault('usd=25/day'),
    about:
      'What a rule may spend that has no budget of its own, such as `usd=25/day` (the default), `matches=10000/month` or, to tell and not to pause, `usd=25/day:notify`; `off` for no limit. Counted at the highest reading of the prices.',
  },
  budgetUsdPerDay: {
    variable: 'EARSHOT_BUDGET_USD_PER_DAY',
    schema: z.coerce.number().positive().max(1_000_000).optional(),
    about:
      'What all sources together may be billed per UTC day, in US dollars at the highest reading of the prices. When it is reached, the streams are closed until the next day, and nothing is searched or counted. Without it there is no such limit.',
  },
  budgetUsdPerMonth: {
    variable: 'EARSHOT_BUDGET_USD_PER_MONTH',
    schema: z.coerce.number().positive().max(1_000_000).optional(),
    about: 'The same per UTC month.',
  },
  supportContact: {
    variable: 'EARSHOT_SUPPORT_CONTACT',
    schema: z.string().min(1).default('the operator of this installation'),
    about: 'Whom callers ask for higher limits; part of error messages.',
  },
  eventsReplicas: {
    variable: 'EARSHOT_EVENTS_REPLICAS',
    schema: accepted.copies.default(1),
    about: 'Copies of the event log: 1 on a single NATS node, 3 on a cluster.',
  },
  eventsBytesMax: {
    variable: 'EARSHOT_EVENTS_BYTES_MAX',
    schema: accepted.count.default(8 * 1024 ** 3),
    about: 'Size of the event log on disk. A full log refuses new events; keep it below 60 % of the disk.',
  },
  retentionDays: {
    variable: 'EARSHOT_RETENTION_DAYS',
    schema: z.coerce.number().int().min(8).max(3_650).default(30),
    about: 'Days for which matches are kept, counted from the day of the event.',
  },
  matchWorkers: {
    variable: 'EARSHOT_MATCH_WORKERS',
    schema: z.coerce.number().int().min(1).max(64).default(2),
    about: 'Match workers of this node.',
  },
  leaseTtlMs: {
    variable: 'EARSHOT_LEASE_TTL_MS',
    schema: z.coerce.number().int().min(500).max(60_000).default(10_000),
    about: 'After this time without a sign of life another node takes over a source.',
  },
  drainDelayMs: {
    variable: 'EARSHOT_DRAIN_DELAY_MS',
    schema: z.coerce.number().int().min(0).max(60_000).default(0),
    about:
      'Time between "not ready" and the end of listening at a shutdown, for load balancers (5000 is usual). Stopping takes up to 30 s more: give the container 35 s more than this.',
  },
  tracesUrl: {
    variable: 'EARSHOT_TRACES_URL',
    schema: accepted.collectorUrl.optional(),
    about:
      'Switches [traces](operations/monitoring.md#traces) on: where an OpenTelemetry collector takes OTLP over HTTP, such as `http://collector:4318/v1/traces`.',
  },
  tracesHeaders: {
    variable: 'EARSHOT_TRACES_HEADERS',
    isSecret: true,
    schema: accepted.headers.optional(),
    about: 'Headers for the collector as `name=value`, separated by commas, such as a key.',
  },
  tracesRatio: {
    variable: 'EARSHOT_TRACES_RATIO',
    schema: z.coerce.number().min(0).max(1).default(0.01),
    about: 'The share of items that are traced, from 0 to 1, the same on every node.',
  },
  logLevel: {
    variable: 'EARSHOT_LOG_LEVEL',
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    about: 'How much is logged.',
  },
  crashAt: {
    variable: 'EARSHOT_CRASH_AT',
    schema: z
      .enum([...checkpoints, ...ingestCheckpoints, ...deliveryCheckpoints, ...digestCheckpoints])
      .optional(),
    about: 'For tests only: the process kills itself at this point.',
  },
} as const satisfies Record<string, accepted.Setting>;
