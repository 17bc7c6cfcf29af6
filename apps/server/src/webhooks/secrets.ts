import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

const secretBytes = 32;

export function newSecret(): string {
  return formatSecret(randomBytes(secretBytes));
}

/** A secret as Standard Webhooks writes it: 24 to 64 random bytes in base64 after a prefix. */
export function formatSecret(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString('base64');
}

/**
 * The headers of one attempt. Every attempt of a message has the same id and its own timestamp, so that a receiver can
 * refuse old ones. There is one signature per valid secret: the receiver needs to know only one of them.
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
 * Secrets as they are stored: useless without the key, and only valid in the row they were sealed for. The first key seals; the
 * older ones still open what they have sealed.
 */
export function createSecretBox(key: Buffer, older: readonly Buffer[] = []) {
  return {
    seal(owner: string, secret: string): Buffer {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), text]);
    },
    /** Throws when none of the keys has sealed it, or the bytes were changed or belong to another owner. */
    open(owner: string, sealed: Buffer): string {
      for (const one of [key, ...older]) {
        const opened = openWith(one, owner, sealed);
        if (opened !== null) return opened;
      }
      throw new Error('not a sealed secret, or sealed with another key');
    },
    /** Whether the key that seals now has sealed it. */
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
    // What does not authenticate was not sealed with this key.
    return null;
  }
}
