import { randomUUID } from 'node:crypto';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import { type Attempt, secretUnreadable } from './endpoint-state.ts';
import { noSecretsKey, noSuchWebhook } from './refusals.ts';
import { type SecretBox, signedHeaders } from './secrets.ts';
import type { Sender } from './sender.ts';
import { findWebhook, retryNow, type WebhookTarget } from './webhooks.sql.ts';

/**
 * Sends a message without matches, to see whether the endpoint answers and knows its secret. If it does, what waits for it is tried
 * at once.
 */
export function testWebhook(options: {
  readonly database: Database;
  readonly sender: Sender;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}): Handler<'TestWebhook'> {
  const { database, sender, secretBox, contact } = options;
  return async ({ principal: { accountId }, request: { webhook_id } }) => {
    const target = await findWebhook(database, accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    if (secretBox === null) throw noSecretsKey(contact);
    const { outcome, status, latencyMs, detail, response } = await send(sender, secretBox, {
      ...target,
      webhookId: webhook_id,
    });
    if (outcome.kind === 'delivered') {
      const retry = `update webhooks set ${retryNow} where account_id = $1 and id = $2`;
      await database.forAccount(accountId).transaction((sql) => sql.run(retry, [accountId, webhook_id]));
    }
    return { webhook_id, outcome: outcome.kind, status, latency_ms: latencyMs, detail, response };
  };
}

async function send(
  sender: Sender,
  secretBox: SecretBox,
  { webhookId, url, secrets }: WebhookTarget & { readonly webhookId: string },
): Promise<Attempt> {
  const id = `msg_test${randomUUID().replaceAll('-', '')}`;
  const body = JSON.stringify({ type: 'test', webhook_id: webhookId });
  let opened: string[];
  try {
    opened = secrets.map((sealed) => secretBox.open(webhookId, sealed));
  } catch {
    return secretUnreadable;
  }
  return await sender.send({ url, headers: signedHeaders({ id, body }, opened, Date.now()), body });
}
