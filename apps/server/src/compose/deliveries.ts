import { createArchiveStore } from '../archives/archive-store.sql.ts';
import { createArchiveWorker } from '../archives/archive-worker.ts';
import { createWriteArchive } from '../archives/write-archive.ts';
import { createCoverageStore } from '../coverage/coverage-store.sql.ts';
import { createDigestMessageStore, forgetMails } from '../digests/digest-messages.sql.ts';
import { createDigestWorker } from '../digests/digest-worker.ts';
import { makeDigestMessages } from '../digests/make-digest-messages.ts';
import { createSendDigestMessage } from '../digests/send-digest-message.ts';
import { createNoticeReader } from '../notices/notice-reader.sql.ts';
import { createMatchReader } from '../readers/match-reader.sql.ts';
import { every, type Worker } from '../runtime/worker.ts';
import { createDeliverBatch } from '../webhooks/deliver-batch.ts';
import { createDeliverWorker } from '../webhooks/deliver-worker.ts';
import { createDeliveryStore } from '../webhooks/delivery-store.sql.ts';
import { forgetDeliveries } from '../webhooks/list-deliveries.ts';
import { findUnreadable } from '../webhooks/reencrypt.ts';
import {
  consoleUrlOf,
  mailPolicyOf,
  openMail,
  openSender,
  openStorage,
  type Shared,
  secretBoxOf,
} from './shared.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What the role `deliver` runs. */
export async function deliverWorkers(shared: Shared, stack: AsyncDisposableStack): Promise<Worker[]> {
  return [
    ...webhookWorkers(shared, stack),
    ...archiveWorkers(shared, stack),
    ...(await digestWorkers(shared, stack)),
  ];
}

function archiveWorkers(shared: Shared, stack: AsyncDisposableStack): Worker[] {
  const { config, database } = shared;
  const secretBox = secretBoxOf(config);
  if (secretBox === null) return [];
  const store = createArchiveStore(database);
  const write = createWriteArchive({
    ...shared,
    store,
    reader: createMatchReader(database),
    storage: stack.use(openStorage(config)),
    secretBox,
    random: Math.random,
  });
  return [createArchiveWorker({ ...shared, store, write })];
}

/** Without a key for secrets there are no webhooks, or their secrets cannot be decrypted. */
function webhookWorkers(shared: Shared, stack: AsyncDisposableStack): Worker[] {
  const { config, database } = shared;
  const secretBox = secretBoxOf(config);
  const checking = every('check-secrets', hourMs, async () =>
    shared.telemetry.webhookSecretsChecked(await findUnreadable(database, secretBox)),
  );
  if (secretBox === null) return [checking];
  const store = createDeliveryStore(database);
  const deliver = createDeliverBatch({
    ...shared,
    store,
    reader: createMatchReader(database),
    notices: createNoticeReader(database),
    sender: stack.use(openSender(config)),
    consoleUrl: consoleUrlOf(config),
    secretBox,
    random: Math.random,
  });
  return [
    checking,
    createDeliverWorker({ ...shared, store, deliver }),
    every('forget-deliveries', minuteMs, async () => (await forgetDeliveries(database)) > 0),
  ];
}

/** Runs on every node: row locks decide which node makes a digest message, and leases which node sends it. */
async function digestWorkers(shared: Shared, stack: AsyncDisposableStack): Promise<Worker[]> {
  const { config, database } = shared;
  const store = createDigestMessageStore(database);
  const send = createSendDigestMessage({
    ...shared,
    store,
    reader: createMatchReader(database),
    coverage: createCoverageStore(database),
    sender: stack.use(openSender(config)),
    consoleUrl: consoleUrlOf(config),
    secretBox: secretBoxOf(config),
    mailer: await openMail(config, stack),
    mailRecipients: mailPolicyOf(config).recipients,
  });
  return [
    every('digest-messages', 2_000, () => makeDigestMessages(shared)),
    createDigestWorker({ ...shared, store, send }),
    every('forget-mails', hourMs, () => forgetMails(database)),
  ];
}
