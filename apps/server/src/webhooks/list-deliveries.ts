import type { Handler } from '../accounts/call.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { noSuchWebhook } from './no-such-webhook.ts';
import type { DeliveryReader, WebhookStore } from './webhook-store.ts';

export function listDeliveries(options: {
  readonly store: Pick<WebhookStore, 'find'>;
  readonly reader: DeliveryReader;
  readonly cursors: Cursors;
}): Handler<'ListDeliveries'> {
  const { store, reader, cursors } = options;
  return async ({ principal: { accountId }, request }) => {
    const { webhook_id, limit, cursor } = request;
    const outcome = request.outcome ?? null;
    if (!(await store.find(accountId, webhook_id))) throw noSuchWebhook();
    const scope = { accountId, filter: ['deliveries', webhook_id, outcome] };
    const before = cursor === undefined ? null : cursors.open(scope, cursor);
    const deliveries = await reader.page(webhook_id, { outcome, before, limit });
    const last = deliveries.at(-1);
    const more = deliveries.length === limit && last !== undefined;
    return { deliveries, next_cursor: more ? cursors.seal(scope, last.id) : null };
  };
}
