import { z } from 'zod';
import { defaultPrices, formatPrices } from '../billing/prices.ts';
import { defaultXExpansions, xCompliances, xExpansions, xPlans, xSearches } from '../upstream/x/settings.ts';
import * as accepted from './values.ts';

/*
 * Each setting once: its variable, what it accepts, its default and its documentation. docs/configuration.md and
 * deploy/earshot.env.example are generated from these tables (`pnpm docs:write`).
 */

type Table = Readonly<Record<string, accepted.Setting>>;

const essentials = {
  databaseUrl: {
    variable: 'EARSHOT_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl,
    about: 'PostgreSQL 15 or newer, as `postgres://user:password@host:port/database`.',
  },
  natsUrl: {
    variable: 'EARSHOT_NATS_URL',
    isSecret: true,
    schema: accepted.natsAddresses,
    about:
      'nats-server 2.14.5 or newer with JetStream, as `nats://user:password@host:port` or `nats://token@host:port`; several with commas and one login. `tls://…` requires TLS. Percent-encode special characters in a password.',
  },
  xTokens: {
    variable: 'EARSHOT_X_TOKENS',
    isSecret: true,
    schema: accepted.credentials.default([]),
    about:
      'Bearer tokens of X apps as `name=token`, separated by commas. X allows one production app per use case: [terms](upstreams/terms.md).',
  },
  firehoseTokens: {
    variable: 'EARSHOT_FIREHOSE_TOKENS',
    isSecret: true,
    schema: accepted.credentials.default([]),
    about: 'Firehose tokens as `name=token`, separated by commas.',
  },
  xPlan: {
    variable: 'EARSHOT_X_PLAN',
    schema: z.enum(xPlans).default('payg'),
    about:
      'Your X plan. `payg`: 1,000 rules of 1,024 characters, search fills gaps. `enterprise`: 25,000 rules of 2,048 characters, recovery fills gaps of the last day. `embedding`: also the operators of the Embedding tier.',
  },
  budget: {
    variable: 'EARSHOT_BUDGET',
    schema: accepted.installationBudget.prefault(''),
    about:
      'The most that all sources may be billed per UTC day, month or both, such as `usd=100/day,usd=1000/month`, by the upper estimate. At a limit, Earshot closes the streams until the next period. Default: no limit.',
  },
  ruleBudget: {
    variable: 'EARSHOT_RULE_BUDGET',
    schema: accepted.budget.prefault('usd=25/day'),
    about:
      'Budget of rules without their own, such as `usd=25/day` or `matches=10000/month`, by the upper estimate. `usd=25/day:notify` notifies instead of pausing; `off` means no limit.',
  },
  secretsKey: {
    variable: 'EARSHOT_SECRETS_KEY',
    isSecret: true,
    schema: accepted.aesKeys.optional(),
    about:
      'Encrypts webhook signing secrets: 32 random bytes in base64 (`openssl rand -base64 32`), the same on every node. Required for webhooks; without the right key they are not delivered. Several keys, separated by commas, serve [rotation](operations/rotation.md).',
  },
  publicUrl: {
    variable: 'EARSHOT_PUBLIC_URL',
    schema: accepted.publicOrigin.optional(),
    about:
      'The address at which browsers and programs reach this installation, such as `https://earshot.example.com`. It switches on [OAuth for `/mcp`](mcp.md#oauth). Must be `https`, except on this machine.',
  },
  retentionDays: {
    variable: 'EARSHOT_RETENTION_DAYS',
    schema: z.coerce.number().int().min(8).max(3_650).default(30),
    about: 'Days for which matches are kept, from the day of the event; at least 8.',
  },
} as const satisfies Table;

const node = {
  roles: {
    variable: 'EARSHOT_ROLES',
    schema: accepted.roles.default([...accepted.roleNames]),
    about: 'Roles of this node: any of `api`, `ingest`, `match`, `deliver`, separated by commas.',
  },
  host: {
    variable: 'EARSHOT_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address on which the API listens.',
  },
  port: {
    variable: 'EARSHOT_PORT',
    schema: accepted.port.default(8080),
    about: 'Port of the API; 0 picks a free one.',
  },
  metricsHost: {
    variable: 'EARSHOT_METRICS_HOST',
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address of the metrics port. It requires no key: never make it public.',
  },
  metricsPort: {
    variable: 'EARSHOT_METRICS_PORT',
    schema: accepted.port.default(9464),
    about: 'Port of `/metrics`, `/healthz` and `/readyz`; 0 picks a free one.',
  },
  trustedProxies: {
    variable: 'EARSHOT_TRUSTED_PROXIES',
    schema: accepted.list.pipe(z.array(accepted.addressRange)).default([]),
    about:
      'Addresses and CIDR ranges of the [proxies](operations/proxy-and-tls.md) in front of the API, separated by commas. The caller is the last address in `X-Forwarded-For` that is not one of them. Default: the header is ignored.',
  },
  console: {
    variable: 'EARSHOT_CONSOLE',
    schema: z.enum(['on', 'off']).default('on'),
    about: 'Whether the API serves [the console](console.md) at `/`.',
  },
  supportContact: {
    variable: 'EARSHOT_SUPPORT_CONTACT',
    schema: z.string().min(1).default('the operator of this installation'),
    about: 'The contact for higher limits; part of error messages.',
  },
} as const satisfies Table;

const engines = {
  accountDatabaseUrl: {
    variable: 'EARSHOT_ACCOUNT_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl.optional(),
    about:
      'The same database by the login `earshot_account`, which sees one account at a time. Without it, the login of `EARSHOT_DATABASE_URL` takes that role, which protects from mistakes but not from injected SQL.',
  },
  migrationDatabaseUrl: {
    variable: 'EARSHOT_MIGRATION_DATABASE_URL',
    isSecret: true,
    schema: accepted.postgresUrl.optional(),
    about:
      'The same database by the login that owns the tables. Nodes with the role `match` and the first node after an upgrade need it. Without it, the login of `EARSHOT_DATABASE_URL` must be the owner.',
  },
  migrateAtStart: {
    variable: 'EARSHOT_MIGRATE_AT_START',
    schema: z.stringbool().default(true),
    about:
      'Whether the server migrates the database when it starts. With `false`, run `earshot admin migrate --apply` first.',
  },
  natsCredsFile: {
    variable: 'EARSHOT_NATS_CREDS_FILE',
    schema: accepted.path.optional(),
    about: 'A NATS credentials file (`.creds`), in place of a login in `EARSHOT_NATS_URL`.',
  },
  natsCaFile: {
    variable: 'EARSHOT_NATS_CA_FILE',
    schema: accepted.path.optional(),
    about: 'Your certificate authority for the NATS servers (PEM). It makes TLS required.',
  },
  natsCertFile: {
    variable: 'EARSHOT_NATS_CERT_FILE',
    schema: accepted.path.optional(),
    about: 'The client certificate for the NATS servers (PEM), if they require one.',
  },
  natsKeyFile: {
    variable: 'EARSHOT_NATS_KEY_FILE',
    schema: accepted.path.optional(),
    about: 'The private key of `EARSHOT_NATS_CERT_FILE` (PEM).',
  },
  eventsBytesMax: {
    variable: 'EARSHOT_EVENTS_BYTES_MAX',
    schema: accepted.count.default(8 * 1024 ** 3),
    about:
      'Size of the event log on the disk of each NATS server. A full log refuses new events. Keep it below 60% of the disk.',
  },
} as const satisfies Table;

const sources = {
  xBaseUrl: {
    variable: 'EARSHOT_X_BASE_URL',
    schema: z.url().default('https://api.x.com'),
    about: 'Base URL of the X API.',
  },
  firehoseBaseUrl: {
    variable: 'EARSHOT_FIREHOSE_BASE_URL',
    schema: z.url().default('https://api.firehose.com'),
    about: 'Base URL of the Firehose API.',
  },
  blueskyUrl: {
    variable: 'EARSHOT_BLUESKY_URL',
    schema: z.url({ protocol: /^wss?$/ }).optional(),
    about:
      'Switches on the platform [`bluesky`](bluesky.md): address of a Jetstream instance, such as `wss://jetstream.example.com`. With the path `/subscribe` Earshot speaks the older protocol, which most public instances have.',
  },
  drainSources: {
    variable: 'EARSHOT_DRAIN_SOURCES',
    schema: accepted.list.pipe(z.array(z.string().regex(accepted.sourceId))).default([]),
    about:
      'Sources to empty, as `x:name` or `firehose:name`, separated by commas. Their rules move to other sources of the platform: [rotation](operations/rotation.md#upstream-tokens).',
  },
  accountSharePercent: {
    variable: 'EARSHOT_ACCOUNT_SHARE_PERCENT',
    schema: z.coerce.number().int().min(1).max(100).default(50),
    about:
      'Largest share of the unused upstream rules, and of rule calls, that one account may take. If all accounts are your own, set 100.',
  },
  xExpansions: {
    variable: 'EARSHOT_X_EXPANSIONS',
    schema: z.enum(xExpansions).default(defaultXExpansions),
    about:
      'What X sends with each post, and may charge: `none`, its `author` ($0.010), or `full`: also mentioned users, referenced posts, media and places. With less, `why` explains less; matches are the same.',
  },
  xSearch: {
    variable: 'EARSHOT_X_SEARCH',
    schema: z.enum(xSearches).default('recent'),
    about:
      'The search that fills gaps: `recent` (last week, rules up to 512 characters), or `all` (whole archive, up to 1,024), if your app has access.',
  },
  xSearchPostsPerDay: {
    variable: 'EARSHOT_X_SEARCH_POSTS_PER_DAY',
    schema: z.coerce.number().int().min(0).max(3_000_000).default(1_000),
    about:
      'The most posts per UTC day that these searches may return, at $0.005 each. With 0, gaps are not filled.',
  },
  xCompliance: {
    variable: 'EARSHOT_X_COMPLIANCE',
    schema: z.enum(xCompliances).default('off'),
    about:
      'With `daily`, Earshot checks all kept posts with X once a day, and removes those that are [gone](upstreams/terms.md#deleted-or-changed-content), with their matches. The calls may be billed. X’s terms require this or something like it.',
  },
  prices: {
    variable: 'EARSHOT_PRICES',
    schema: accepted.prices.prefault(() => formatPrices(defaultPrices())),
    about:
      'Upstream prices in US dollars, and when you checked them: `x.post=0.004,x.user=0.008,as_of=2027-01-31`. Others keep their defaults. They apply to earlier days too.',
  },
} as const satisfies Table;

const access = {
  oauthIssuer: {
    variable: 'EARSHOT_OAUTH_ISSUER',
    schema: accepted.issuer.optional(),
    about:
      '[Your own authorization server](mcp.md#your-own-issuer), such as `https://login.example.com`, as in the claim `iss`. `/mcp` accepts its tokens instead of Earshot’s. Requires `EARSHOT_PUBLIC_URL`.',
  },
  smtpUrl: {
    variable: 'EARSHOT_SMTP_URL',
    isSecret: true,
    schema: accepted.smtpUrl.optional(),
    about:
      'The server that sends the mails of [digests](digests.md), as `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS. Its certificate is verified.',
  },
  mailFrom: {
    variable: 'EARSHOT_MAIL_FROM',
    schema: accepted.mailAddress.optional(),
    about: 'The sender of these mails, such as `earshot@example.com`. Required for mail.',
  },
  mailTo: {
    variable: 'EARSHOT_MAIL_TO',
    schema: accepted.list.pipe(z.array(accepted.mailRecipient)).default([]),
    about:
      'Permitted recipients: addresses and domains, such as `ops@example.com,@example.org`. Default: none.',
  },
} as const satisfies Table;

const judge = {
  judgeUrl: {
    variable: 'EARSHOT_JUDGE_URL',
    schema: accepted.judgeUrl.optional(),
    about:
      'Switches the [judge](relevance.md#connect-a-judge) on: base URL of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. Requires `EARSHOT_JUDGE_MODEL`. Rules send it nothing unless they request it.',
  },
  judgeModel: {
    variable: 'EARSHOT_JUDGE_MODEL',
    schema: z.string().min(1).optional(),
    about: 'The model that judges, as its API names it.',
  },
  judgeKey: {
    variable: 'EARSHOT_JUDGE_KEY',
    isSecret: true,
    schema: z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .optional(),
    about: 'The API key, sent as a bearer token. Local models need none.',
  },
  judgePrice: {
    variable: 'EARSHOT_JUDGE_PRICE',
    schema: accepted.judgePrice.prefault('0,0'),
    about:
      'US dollars per million input and output tokens, such as `0.15,0.60`. The default is for a model that costs nothing per token.',
  },
  judgeUsdPerDay: {
    variable: 'EARSHOT_JUDGE_USD_PER_DAY',
    schema: accepted.usdPerDay.default(1),
    about:
      'The most that the judge may cost per UTC day, in US dollars. At the limit, further matches stay unjudged. Without `EARSHOT_JUDGE_PRICE`, no call costs anything, so there is no limit.',
  },
} as const satisfies Table;

const observability = {
  logLevel: {
    variable: 'EARSHOT_LOG_LEVEL',
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    about: 'The least severe log level that is written.',
  },
  otlpUrl: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: accepted.collectorUrl.optional(),
    about:
      'Switches [traces](operations/monitoring.md#traces) on: base URL of an OpenTelemetry collector (OTLP over HTTP), such as `http://collector:4318`.',
  },
  otlpTracesUrl: {
    variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    schema: accepted.collectorUrl.optional(),
    about: 'The full URL for traces, in place of `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  },
  otlpHeaders: {
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    isSecret: true,
    schema: accepted.headers.optional(),
    about:
      'Headers for the collector as `name=value`, separated by commas. Percent-encode commas and spaces in values.',
  },
  tracesRatio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    schema: z.coerce.number().min(0).max(1).default(0.01),
    about: 'The share of items that are traced, from 0 to 1. Set the same on every node.',
  },
} as const satisfies Table;

export const settings = {
  ...essentials,
  ...node,
  ...engines,
  ...sources,
  ...access,
  ...judge,
  ...observability,
};

/** In the order of docs/configuration.md. */
export const settingGroups: ReadonlyArray<readonly [title: string, table: Table]> = [
  ['The ten settings that matter', essentials],
  ['Node and API', node],
  ['PostgreSQL and NATS', engines],
  ['X, Firehose and prices', sources],
  ['OAuth and mail', access],
  ['Judge', judge],
  ['Logs and traces', observability],
];
