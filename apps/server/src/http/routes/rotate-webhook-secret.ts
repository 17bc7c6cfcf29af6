import type { createRotateWebhookSecret } from '../../webhooks/manage-webhooks.ts';
import type { Route } from '../route.ts';

export function rotateWebhookSecretRoute(
  rotateSecret: ReturnType<typeof createRotateWebhookSecret>,
): Route<'RotateWebhookSecret'> {
  return {
    id: 'RotateWebhookSecret',
    handle: (_principal, request, { change }) => rotateSecret(request, change),
  };
}
