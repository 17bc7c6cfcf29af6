import type { Plans } from '../accounts/plans.ts';
import { createDeliveryLog } from '../adapters/postgres/delivery-log.ts';
import { createDeliveryStore } from '../adapters/postgres/delivery-store.ts';
import { createMatchReader } from '../adapters/postgres/match-reader.ts';
import { createRuleStore } from '../adapters/postgres/rule-store.ts';
import { createWebhookStore } from '../adapters/postgres/webhook-store.ts';
import { createResolve } from '../adapters/webhook/resolve.ts';
import { createSender } from '../adapters/webhook/sender.ts';
import { createUrlProblem } from '../adapters/webhook/url-problem.ts';
import type { AnyRoute } from '../http/route.ts';
import { createWebhookRoute } from '../http/routes/create-webhook.ts';
import { deleteWebhookRoute } from '../http/routes/delete-webhook.ts';
import { listDeliveriesRoute } from '../http/routes/list-deliveries.ts';
import { listWebhooksRoute } from '../http/routes/list-webhooks.ts';
import { replayWebhookRoute } from '../http/routes/replay-webhook.ts';
import { rotateWebhookSecretRoute } from '../http/routes/rotate-webhook-secret.ts';
import { testWebhookRoute } from '../http/routes/test-webhook.ts';
import { updateWebhookRoute } from '../http/routes/update-webhook.ts';
import { createCursors } from '../readers/cursor.ts';
import { createForgetWorker } from '../runtime/forget-worker.ts';
import type { Worker } from '../runtime/worker.ts';
import { createCreateWebhook } from '../webhooks/create-webhook.ts';
import { createDeliverBatch } from '../webhooks/deliver-batch.ts';
import { createDeliverWorker } from '../webhooks/deliver-worker.ts';
import type { Sender } from '../webhooks/endpoint.ts';
import { createListDeliveries } from '../webhooks/list-deliveries.ts';
import {
  createDeleteWebhook,
  createRotateWebhookSecret,
  createUpdateWebhook,
} from '../webhooks/manage-webhooks.ts';
import { createReplayWebhook } from '../webhooks/replay-webhook.ts';
import { createSecretBox, type SecretBox } from '../webhooks/secret-box.ts';
import { createTestWebhook } from '../webhooks/test-webhook.ts';
import type { Shared } from './shared.ts';

export function webhookRoutesOf(shared: Shared, plans: Plans, stack: AsyncDisposableStack): AnyRoute[] {
  const { config, database, installation } = shared;
  const store = createWebhookStore(database);
  const contact = config.supportContact;
  const secretBox = secretBoxOf(shared);
  const urlProblem = createUrlProblem({ allowInsecure: config.allowInsecureWebhooks });
  const rules = createRuleStore(database);
  const sender = stack.use(senderOf(shared));
  return [
    createWebhookRoute(createCreateWebhook({ store, rules, urlProblem, secretBox, plans, contact })),
    listWebhooksRoute(store),
    updateWebhookRoute(createUpdateWebhook({ store, rules, urlProblem })),
    deleteWebhookRoute(createDeleteWebhook(store)),
    rotateWebhookSecretRoute(createRotateWebhookSecret({ store, secretBox, contact })),
    testWebhookRoute(createTestWebhook({ store, sender, secretBox, contact })),
    listDeliveriesRoute(
      createListDeliveries({
        store,
        reader: createDeliveryLog(database),
        cursors: createCursors(installation.cursorSecret),
      }),
    ),
    replayWebhookRoute(createReplayWebhook({ store, reader: createMatchReader(database) })),
  ];
}

/** Without a key for secrets nobody can have a webhook, or its secret cannot be opened: nothing to do here. */
export function deliverWorkers(shared: Shared, stack: AsyncDisposableStack): Worker[] {
  const { database } = shared;
  const secretBox = secretBoxOf(shared);
  if (secretBox === null) return [];
  const store = createDeliveryStore(database);
  const nowMs = Date.now;
  const deliver = createDeliverBatch({
    ...shared,
    store,
    reader: createMatchReader(database),
    sender: stack.use(senderOf(shared)),
    secretBox,
    nowMs,
    random: Math.random,
  });
  return [
    createDeliverWorker({ ...shared, store, deliver, nowMs }),
    createForgetWorker('forget-deliveries', createDeliveryLog(database)),
  ];
}

function secretBoxOf({ config }: Shared): SecretBox | null {
  return config.secretsKey === undefined ? null : createSecretBox(config.secretsKey);
}

function senderOf({ config }: Shared): Sender & AsyncDisposable {
  return createSender({ resolve: createResolve(), allowInsecure: config.allowInsecureWebhooks });
}
