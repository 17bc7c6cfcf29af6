import type { createDeleteWebhook } from '../../webhooks/manage-webhooks.ts';
import type { Route } from '../route.ts';

export function deleteWebhookRoute(
  deleteWebhook: ReturnType<typeof createDeleteWebhook>,
): Route<'DeleteWebhook'> {
  return { id: 'DeleteWebhook', handle: (_principal, request, { change }) => deleteWebhook(request, change) };
}
