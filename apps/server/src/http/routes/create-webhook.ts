import type { createCreateWebhook } from '../../webhooks/create-webhook.ts';
import type { Route } from '../route.ts';

export function createWebhookRoute(
  createWebhook: ReturnType<typeof createCreateWebhook>,
): Route<'CreateWebhook'> {
  return {
    id: 'CreateWebhook',
    handle: (principal, request, { change }) => createWebhook(principal, request, change),
  };
}
