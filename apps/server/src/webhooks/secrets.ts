import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

const secretBytes = 32;

export function newSecret(): string {
  return formatSecret(randomBytes(secretBytes));
}

/** Formats a secret as in Standard Webhooks: 24 to 64 random bytes in base64 after a prefix. */
export function formatSecret(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString('base64');
}

/**
 * The headers of one attempt. All attempts of a message have the same id and their own timestamp, so that receivers
 * can refuse old ones. There is one signature per valid secret; the receiver needs only one of them.
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

const algorithm = 'aes-256-gcm';
const version = 1;
const nonceLength = 12;
const tagLength = 16;

export type SecretBox = ReturnType<typeof createSecretBox>;

/**
 * Encrypts secrets for storage. A sealed secret is valid only with the key and for its row. The first key seals;
 * older keys still decrypt.
 */
export function createSecretBox(key: Buffer, older: readonly Buffer[] = []) {
  return {
    seal(owner: string, secret: string): Buffer {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), text]);
    },
    /** Throws if no key has sealed it, or if the bytes were changed or belong to another owner. */
    open(owner: string, sealed: Buffer): string {
      for (const one of [key, ...older]) {
        const opened = openWith(one, owner, sealed);
        if (opened !== null) return opened;
      }
      throw new Error('not a sealed secret, or sealed with another key');
    },
    /** Whether the first key has sealed it. */
    isCurrent: (owner: string, sealed: Buffer) => openWith(key, owner, sealed) !== null,
  };
}

function openWith(key: Buffer, owner: string, sealed: Buffer): string | null {
  const textAt = 1 + nonceLength + tagLength;
  if (sealed[0] !== version || sealed.length < textAt) return null;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, 1 + nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(1 + nonceLength, textAt));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()]).toString();
  } catch {
    // Failed authentication means another key.
    return null;
  }
}
