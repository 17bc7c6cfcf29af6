import type { Handler } from '../accounts/call.ts';
import { sendTest } from './deliver-batch.ts';
import type { Sender } from './endpoint.ts';
import { noSecretsKey, noSuchWebhook } from './no-such-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import type { WebhookStore } from './webhook-store.ts';

export function testWebhook(options: {
  readonly store: Pick<WebhookStore, 'find'>;
  readonly sender: Sender;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}): Handler<'TestWebhook'> {
  const { store, sender, secretBox, contact } = options;
  return async ({ principal: { accountId }, request: { webhook_id } }) => {
    const target = await store.find(accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    if (secretBox === null) throw noSecretsKey(contact);
    const { verdict, status, latencyMs, detail, response } = await sendTest({ sender, secretBox }, target);
    return { webhook_id, outcome: verdict.kind, status, latency_ms: latencyMs, detail, response };
  };
}
