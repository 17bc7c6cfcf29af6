import type { Digest, RequestOf } from '@earshot/contract';
import { migratedTemplate } from '@earshot/testkit';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { createDigest } from '../src/digests/create-digest.ts';
import { createDigestMessageStore, type DigestMessageStore } from '../src/digests/digest-messages.sql.ts';
import type { Mailer } from '../src/digests/mailer.ts';
import { makeDigestMessages } from '../src/digests/make-digest-messages.ts';
import { deleteDigest, listDigests, updateDigest } from '../src/digests/manage-digests.ts';
import { createSendDigestMessage } from '../src/digests/send-digest-message.ts';
import type { Database } from '../src/engines/database.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import type { Checkpoint } from '../src/runtime/checkpoint.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { createSender } from '../src/webhooks/sender.ts';
import { callOf } from './call-of.ts';
import { freezeDatabase } from './database-clock.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';
import { type Handler, type Received, startEndpoint } from './web-endpoint.ts';
import { createWebhookWorld, type WebhookWorld } from './webhook-world.ts';

export interface DigestNode {
  /** Moves the time, makes every digest message that is due, and makes one attempt at each that waits. */
  tick(afterMs?: number): Promise<void>;
}

export interface NodeOptions {
  readonly checkpoint?: Checkpoint;
  readonly store?: (store: DigestMessageStore) => DigestMessageStore;
  /** Called after digest messages were made, before they are sent. */
  readonly afterMaking?: () => Promise<unknown>;
  /** The operator's list at sending; the list at the creation of digests does not change. */
  readonly mailRecipients?: readonly string[];
}

export interface DigestWorld extends AsyncDisposable {
  readonly webhooks: WebhookWorld;
  /** The database's time: it begins two days ago, so that the ledger covers it, which uses the real clock. */
  readonly clock: { nowMs: number };
  create(
    request: Partial<RequestOf<'CreateDigest'>> & Pick<RequestOf<'CreateDigest'>, 'recipients'>,
  ): Promise<Digest>;
  update(request: RequestOf<'UpdateDigest'>): Promise<Digest>;
  remove(digestId: string): Promise<unknown>;
  list(): Promise<Digest[]>;
  startNode(options?: NodeOptions): DigestNode;
  /** Mails per UTC day of the account. */
  allowMails(mails: number): Promise<unknown>;
}

const allowed = ['@example.com', 'one@example.org'];

/** Digests of `acc_1` on a real database. The ledger covers `rule_1` on X for the last ten days. */
async function createDigestWorld(
  database: Database,
  { mailer = null }: { mailer?: Mailer | null } = {},
): Promise<DigestWorld> {
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     values ('rule_1', 1, 'x', 'v1', 'v1', 'slot_1')`,
  );
  const longAgo = `now() - interval '10 days'`;
  await database.run(`update watches set from_at = ${longAgo}`);
  await database.run(`update slot_services set from_at = ${longAgo}`);
  await database.run(`update slots set created_at = ${longAgo}`);
  await database.run('update match_progress set matched_through = now()');
  await database.run(
    `insert into coverage (source_id, from_at, proven_until) values ('x:main', ${longAgo}, now())`,
  );
  const webhooks = createWebhookWorld(database);
  const clock = { nowMs: Date.now() - 2 * 86_400_000 };
  let shown = { nowMs: 0, done: Promise.resolve() };
  const showTime = (): Promise<void> => {
    const { nowMs } = clock;
    if (nowMs !== shown.nowMs)
      shown = { nowMs, done: shown.done.then(() => freezeDatabase(database, new Date(nowMs))) };
    return shown.done;
  };
  const sender = createSender({ resolve: async () => ['127.0.0.1'], allowInsecure: true });
  const options = {
    database,
    mail: { isSetUp: mailer !== null, recipients: allowed },
    contact: 'us',
    cursors: createCursors(Buffer.alloc(32)),
  };
  return {
    webhooks,
    clock,
    create: async (request) => {
      await showTime();
      return await createDigest(options)(
        callOf('CreateDigest', {
          name: 'report',
          schedule: { window_seconds: 60 },
          min_matches: 1,
          empty: 'skip',
          max_matches: 100,
          ...request,
        }),
      );
    },
    async update(request) {
      await showTime();
      return await updateDigest(options)(callOf('UpdateDigest', request));
    },
    remove: (digest_id) => deleteDigest(options)(callOf('DeleteDigest', { digest_id })),
    list: async () => (await listDigests(options)(callOf('ListDigests', { limit: 100 }))).digests,
    startNode({
      checkpoint = () => undefined,
      store: wrap = (same: DigestMessageStore) => same,
      afterMaking,
      mailRecipients = allowed,
    } = {}) {
      const store = wrap(createDigestMessageStore(database));
      const send = createSendDigestMessage({
        database,
        store,
        reader: createMatchReader(database),
        views: createViews({ database, hasJudge: true }),
        parsedRules: createParsedRules(),
        coverage: createCoverageStore(database),
        sender,
        secretBox: webhooks.secretBox,
        mailer,
        mailRecipients,
        bells: webhooks.bells,
        telemetry: silentTelemetry(),
        checkpoint,
      });
      return {
        async tick(afterMs = 0) {
          clock.nowMs += afterMs;
          await showTime();
          await makeDigestMessages({ database, checkpoint });
          await afterMaking?.();
          for (const message of await store.leaseDue(10)) await send(message);
        },
      };
    },
    allowMails: (mails) =>
      database.run(`update accounts set limits = jsonb_build_object('mails', $1::integer)`, [mails]),
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}

/** What a webhook receives. */
export interface DigestMessage {
  readonly type: string;
  readonly number: number;
  readonly from: string;
  readonly to: string;
  readonly total: number;
  readonly counts: readonly object[];
  readonly matches: ReadonlyArray<{ id: string; text: string }>;
  readonly coverage: { without_gap: boolean; gaps: readonly object[]; complete_through: string | null };
}

export const messageOf = ({ body }: Received): DigestMessage => JSON.parse(body);
/** In the order of the log. */
export const textsOf = (message: DigestMessage) => message.matches.map(({ text }) => text).toReversed();

/** As a receiver that ignores a message whose id it has: the first of each, by number. */
export function distinct(received: readonly Received[]): DigestMessage[] {
  const byId = new Map(received.toReversed().map((one) => [one.headers['webhook-id'], messageOf(one)]));
  return [...byId.values()].toSorted((a, b) => a.number - b.number);
}

/** An endpoint, and a webhook for it that gets no matches. */
export async function startDigestReceiver(
  stack: AsyncDisposableStack,
  { webhooks }: DigestWorld,
  handler?: Handler,
) {
  const endpoint = stack.use(await startEndpoint(handler));
  const webhook = await webhooks.createWebhook(endpoint.url, { events: ['notices'] });
  return { endpoint, webhook, recipients: { webhook_id: webhook.id } };
}

/** A separate world, which is disposed with the stack. */
export async function openDigestWorld(stack: AsyncDisposableStack, options: { mailer?: Mailer } = {}) {
  const { url } = stack.use(await migratedTemplate().clone());
  const database = stack.use(openTestDatabase(url));
  await seedRules(database, 3);
  return { url, database, world: stack.use(await createDigestWorld(database, options)) };
}
