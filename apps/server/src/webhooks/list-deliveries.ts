import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Cursors } from '../readers/cursor.ts';
import { noSuchWebhook } from './no-such-webhook.ts';
import type { DeliveryReader, WebhookStore } from './webhook-store.ts';

export function createListDeliveries(options: {
  readonly store: Pick<WebhookStore, 'find'>;
  readonly reader: DeliveryReader;
  readonly cursors: Cursors;
}) {
  const { store, reader, cursors } = options;
  return async (
    { accountId }: Principal,
    request: RequestOf<'ListDeliveries'>,
  ): Promise<AnswerOf<'ListDeliveries'>> => {
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
