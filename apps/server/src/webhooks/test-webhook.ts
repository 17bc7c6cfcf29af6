import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import { sendTest } from './deliver-batch.ts';
import type { Sender } from './endpoint.ts';
import { noSecretsKey, noSuchWebhook } from './no-such-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import type { WebhookStore } from './webhook-store.ts';

export function createTestWebhook(options: {
  readonly store: Pick<WebhookStore, 'find'>;
  readonly sender: Sender;
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}) {
  const { store, sender, secretBox, contact } = options;
  return async (
    { accountId }: Principal,
    { webhook_id }: RequestOf<'TestWebhook'>,
  ): Promise<AnswerOf<'TestWebhook'>> => {
    const target = await store.find(accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    if (secretBox === null) throw noSecretsKey(contact);
    const { verdict, status, latencyMs, detail, response } = await sendTest({ sender, secretBox }, target);
    return { webhook_id, outcome: verdict.kind, status, latency_ms: latencyMs, detail, response };
  };
}
