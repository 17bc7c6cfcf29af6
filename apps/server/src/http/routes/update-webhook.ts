import type { createUpdateWebhook } from '../../webhooks/manage-webhooks.ts';
import type { Route } from '../route.ts';

export function updateWebhookRoute(
  updateWebhook: ReturnType<typeof createUpdateWebhook>,
): Route<'UpdateWebhook'> {
  return {
    id: 'UpdateWebhook',
    handle: (principal, request, { change }) => updateWebhook(principal, request, change),
  };
}
