import { randomUUID } from 'node:crypto';
import type { AnswerOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { recordChange } from '../accounts/change.ts';
import type { Database } from '../engines/database.ts';
import { noSecretsKey, noSuchWebhook } from './refusals.ts';
import type { SecretBox } from './secrets.ts';
import { sendMessage } from './send-message.ts';
import type { Sender } from './sender.ts';
import { findWebhook, retryNow } from './webhooks.sql.ts';

/**
 * Sends a message without matches, to check that the endpoint answers and has the secret. If it accepts, waiting
 * deliveries are retried at once.
 */
export function testWebhook(options: {
  readonly database: Database;
  readonly sender: Sender;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
  readonly consoleUrl?: string | null;
}): Handler<'TestWebhook'> {
  const { database, sender, secretBox, contact, consoleUrl } = options;
  return async ({ principal: { accountId }, request: { webhook_id }, change }) => {
    const target = await findWebhook(database, accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    if (secretBox === null) throw noSecretsKey(contact);
    const { outcome, status, latencyMs, message, response } = await sendMessage(
      { sender, secretBox, consoleUrl },
      { ...target, webhookId: webhook_id },
      {
        messageId: `msg_test${randomUUID().replaceAll('-', '')}`,
        body: JSON.stringify({ type: 'test', webhook_id }),
      },
      { nowMs: target.foundAt.getTime() },
    );
    const result = { outcome: outcome.kind, status };
    const answer: AnswerOf<'TestWebhook'> = {
      webhook_id,
      ...result,
      latency_ms: latencyMs,
      message,
      response,
    };
    await database.forAccount(accountId).transaction(async (sql) => {
      const retry = `update webhooks set ${retryNow} where account_id = $1 and id = $2`;
      if (outcome.kind === 'delivered') await sql.run(retry, [accountId, webhook_id]);
      await recordChange(sql, change, { targetId: webhook_id, before: null, after: result, answer });
    });
    return answer;
  };
}
