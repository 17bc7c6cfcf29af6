import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const version = 1;
const nonceLength = 12;
const tagLength = 16;

/** Secrets as the database may see them: useless without the key, and only in the row they were sealed for. */
export interface SecretBox {
  seal(owner: string, secret: string): Buffer;
  /** Throws when the key is another one or the bytes were changed or belong to another owner. */
  open(owner: string, sealed: Buffer): string;
}

export function createSecretBox(key: Buffer): SecretBox {
  return {
    seal(owner, secret) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), text]);
    },
    open(owner, sealed) {
      const textAt = 1 + nonceLength + tagLength;
      if (sealed[0] !== version || sealed.length < textAt) throw new Error('not a sealed secret');
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, 1 + nonceLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(1 + nonceLength, textAt));
      return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()]).toString();
    },
  };
}
