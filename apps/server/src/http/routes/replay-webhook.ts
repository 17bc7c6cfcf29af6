import type { createReplayWebhook } from '../../webhooks/replay-webhook.ts';
import type { Route } from '../route.ts';

export function replayWebhookRoute(
  replayWebhook: ReturnType<typeof createReplayWebhook>,
): Route<'ReplayWebhook'> {
  return {
    id: 'ReplayWebhook',
    handle: (principal, request, { change }) => replayWebhook(principal, request, change),
  };
}
