import type { createListDeliveries } from '../../webhooks/list-deliveries.ts';
import type { Route } from '../route.ts';

export function listDeliveriesRoute(
  listDeliveries: ReturnType<typeof createListDeliveries>,
): Route<'ListDeliveries'> {
  return { id: 'ListDeliveries', handle: listDeliveries };
}
