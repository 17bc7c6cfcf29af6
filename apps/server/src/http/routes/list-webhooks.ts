import type { WebhookStore } from '../../webhooks/webhook-store.ts';
import type { Route } from '../route.ts';

export function listWebhooksRoute(store: Pick<WebhookStore, 'list'>): Route<'ListWebhooks'> {
  return {
    id: 'ListWebhooks',
    handle: async ({ accountId }) => ({ webhooks: await store.list(accountId) }),
  };
}
