import type { createTestWebhook } from '../../webhooks/test-webhook.ts';
import type { Route } from '../route.ts';

export function testWebhookRoute(testWebhook: ReturnType<typeof createTestWebhook>): Route<'TestWebhook'> {
  return { id: 'TestWebhook', handle: testWebhook };
}
