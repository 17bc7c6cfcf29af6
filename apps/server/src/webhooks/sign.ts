import { createHash, createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** A secret as Standard Webhooks writes it: 24 to 64 random bytes in base64 behind a prefix. */
export function formatSecret(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString('base64');
}

/**
 * The headers of one attempt. Every attempt has its own timestamp, so that a receiver can refuse old ones, and
 * the same id. There is a signature per valid secret: the receiver needs one that it knows.
 */
export function signedHeaders(
  message: { readonly id: string; readonly body: string },
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    const signature = createHmac('sha256', key).update(`${message.id}.${timestamp}.${message.body}`);
    return `v1,${signature.digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

/**
 * The id of a batch: of this webhook, these positions and these bytes. So the same id always means the same
 * message. The epoch is part of it: what an owner asked to be sent again must not be taken for a repetition.
 */
export function messageIdOf(batch: {
  readonly webhookId: string;
  readonly epoch: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly body: string;
}): string {
  const { webhookId, epoch, firstPosition, lastPosition, body } = batch;
  const hash = createHash('sha256').update(`${webhookId}\n${epoch}\n${firstPosition}\n${lastPosition}\n`);
  return `msg_${hash.update(body).digest('base64url').slice(0, 22)}`;
}
