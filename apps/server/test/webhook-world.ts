import { randomBytes } from 'node:crypto';
import type {
  AnswerOf,
  Delivery,
  RelevanceFilter,
  RequestOf,
  Webhook,
  WebhookFormat,
} from '@earshot/contract';
import { migratedTemplate } from '@earshot/testkit';
import type { Change } from '../src/accounts/change.ts';
import type { Bells } from '../src/engines/bells.ts';
import type { Database } from '../src/engines/database.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createNextPages } from '../src/readers/next-pages.sql.ts';
import { createViews } from '../src/readers/views.ts';
import type { Checkpoint } from '../src/runtime/checkpoint.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { newId } from '../src/runtime/ids.ts';
import { supervise } from '../src/runtime/supervisor.ts';
import { insertWebhook } from '../src/webhooks/create-webhook.ts';
import { createDeliverBatch } from '../src/webhooks/deliver-batch.ts';
import { createDeliverWorker } from '../src/webhooks/deliver-worker.ts';
import { createDeliveryStore, type DeliveryStore } from '../src/webhooks/delivery-store.sql.ts';
import { readDeliveries } from '../src/webhooks/list-deliveries.ts';
import { deleteWebhook, listWebhooks, updateWebhook } from '../src/webhooks/manage-webhooks.ts';
import { setBack } from '../src/webhooks/replay-webhook.ts';
import { createSecretBox, formatSecret, type SecretBox } from '../src/webhooks/secrets.ts';
import { createSender } from '../src/webhooks/sender.ts';
import { testWebhook } from '../src/webhooks/test-webhook.ts';
import { callOf } from './call-of.ts';
import { changeBy } from './changes.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules, silentLog, silentTelemetry } from './support.ts';

export interface TestWebhook {
  readonly id: string;
  readonly secret: string;
}

export interface WebhookWorld {
  /** The operations on webhooks, as an owner calls them. */
  readonly webhooks: Webhooks;
  readonly clock: DatabaseClock;
  readonly bells: Bells;
  readonly secretBox: SecretBox;
  change(operation: string): Change;
  createWebhook(
    url: string,
    filter?: {
      ruleIds?: readonly string[];
      platform?: 'x' | 'firehose';
      relevance?: RelevanceFilter;
      group?: 'story';
      events?: readonly ('matches' | 'notices')[];
      format?: WebhookFormat;
      windowSeconds?: number;
      maxMatches?: number;
    },
  ): Promise<TestWebhook>;
  /** Creates many at once, without requests. */
  createMany(url: string, count: number): Promise<void>;
  /** Stores posts that match `rule_1`; returns their texts in the order of the log. */
  storeMatches(texts: readonly string[], ruleId?: string): Promise<void>;
  deliveries(webhookId: string, outcome?: Delivery['outcome']): Promise<Delivery[]>;
  startSender(options?: SenderProcess): AsyncDisposable;
}

export interface Webhooks {
  list(accountId: string): Promise<Webhook[]>;
  update(
    change: Change,
    webhookId: string,
    changes: Omit<RequestOf<'UpdateWebhook'>, 'webhook_id'>,
  ): Promise<Webhook>;
  test(webhookId: string): Promise<AnswerOf<'TestWebhook'>>;
  remove(change: Change, webhookId: string): Promise<object>;
  setBack(
    change: Change,
    webhookId: string,
    position: number,
    answer: AnswerOf<'ReplayWebhook'>,
  ): Promise<boolean>;
}

function webhooksOf(database: Database, secretBox: SecretBox): Webhooks {
  const update = updateWebhook({ database, urlProblem: () => null });
  return {
    list: async (accountId) =>
      (
        await listWebhooks({ database, cursors: createCursors(Buffer.alloc(32)) })(
          callOf('ListWebhooks', { limit: 100 }, accountId),
        )
      ).webhooks,
    update: (change, webhook_id, changes) =>
      update({ ...callOf('UpdateWebhook', { webhook_id, ...changes }), change }),
    async test(webhook_id) {
      await using sender = createSender({ resolve: async () => ['127.0.0.1'], allowInsecure: true });
      const test = testWebhook({ database, sender, secretBox, contact: '' });
      return await test(callOf('TestWebhook', { webhook_id }));
    },
    remove: (change, webhook_id) =>
      deleteWebhook({ database })({ ...callOf('DeleteWebhook', { webhook_id }), change }),
    setBack: (change, _webhookId, position, answer) => setBack(database, change, position, answer),
  };
}

/** One node's senders, which a test can kill. */
export interface SenderProcess {
  readonly checkpoint?: Checkpoint;
  readonly timeoutMs?: number;
  readonly store?: (store: DeliveryStore) => DeliveryStore;
}

/** Webhooks of `acc_1` on a real database, and senders in this process. */
export function createWebhookWorld(database: Database): WebhookWorld {
  const secretBox = createSecretBox(randomBytes(32));
  const webhooks = webhooksOf(database, secretBox);
  const matches = createMatchStore(database);
  const bells = createLocalBells();
  // After a change of the time, senders check at once what is due, not only at their next poll.
  const clock = createDatabaseClock(database, () => bells.ring('matches'));
  const parsedRules = createParsedRules();
  let stored = 0;
  return {
    webhooks,
    clock,
    bells,
    secretBox,
    change: (operation) => changeBy('acc_1', null, operation),
    async createWebhook(url, options = {}) {
      const { ruleIds = null, platform = null, relevance = 'all', events = ['matches'] as const } = options;
      const { format = 'standard', windowSeconds = 0, maxMatches = 100, group = null } = options;
      const id = newId('whk');
      const secret = formatSecret(randomBytes(32));
      const webhook = {
        id,
        name: id,
        url,
        format,
        windowSeconds,
        maxMatches,
        ruleIds,
        platform,
        relevance,
        group,
        events,
        sealedSecret: secretBox.seal(id, secret),
      };
      const change = changeBy('acc_1', null, 'CreateWebhook');
      await database
        .forAccount('acc_1')
        .transaction((sql) => insertWebhook(sql, change, webhook, { webhooksMax: 10_000, contact: '' }));
      return { id, secret };
    },
    async createMany(url, count) {
      const ids = Array.from({ length: count }, () => newId('whk'));
      const secrets = ids.map((id) => secretBox.seal(id, formatSecret(randomBytes(32))));
      await database.run(
        `insert into webhooks (id, account_id, name, url, state, position, batch_max, next_attempt_at, secret, window_seconds)
         select id, 'acc_1', id, $3, 'active', last_position, 100, now(), secret, 0
         from match_log, unnest($1::text[], $2::bytea[]) as new (id, secret)`,
        [ids, secrets, url],
      );
    },
    async storeMatches(texts, ruleId = 'rule_1') {
      const events = texts.map((text) => {
        const event = xEvent(stored++);
        return { ...event, payload: { ...event.payload, text, raw: { data: { text } } } };
      });
      await matches.write(
        events,
        events.map((event) => xMatch(event, ruleId)),
        [],
        [],
      );
      bells.ring('matches');
    },
    deliveries: (webhookId, outcome) =>
      readDeliveries(database, webhookId, { outcome: outcome ?? null, before: null, limit: 10_000 }),
    startSender({
      checkpoint = () => undefined,
      timeoutMs = 10_000,
      store: wrap = (same: DeliveryStore) => same,
    } = {}) {
      const store = wrap(createDeliveryStore(database));
      const sender = createSender({ resolve: async () => ['127.0.0.1'], allowInsecure: true, timeoutMs });
      const reader = createMatchReader(database);
      const deliver = createDeliverBatch({
        store,
        reader,
        nextPage: createNextPages(database, reader),
        views: createViews({ database, hasJudge: true }),
        notices: createNoticeReader(database),
        parsedRules,
        sender,
        secretBox,
        bells,
        telemetry: silentTelemetry(),
        checkpoint,
        random: () => 0.5,
      });
      const worker = createDeliverWorker({ store, deliver, bells, log: silentLog });
      const supervisor = supervise([worker], {
        log: silentLog,
        metrics: createMetrics(),
        isOutage: () => false,
      });
      return {
        async [Symbol.asyncDispose]() {
          await supervisor[Symbol.asyncDispose]();
          await sender[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** Moves to the moment at which the first webhook is retried, if it waits for one. */
export async function passToNextAttempt({ webhooks, clock }: WebhookWorld): Promise<void> {
  const nextAt = (await webhooks.list('acc_1'))[0]?.next_attempt_at ?? null;
  if (nextAt !== null) await clock.passTo(nextAt);
}

/** Webhooks of an account with three rules, on a separate database. */
export async function withWebhookWorld(
  run: (world: WebhookWorld, database: Database, databaseUrl: string) => Promise<void>,
): Promise<void> {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url, 16);
  await seedRules(database, 3);
  await run(createWebhookWorld(database), database, clone.url);
}
