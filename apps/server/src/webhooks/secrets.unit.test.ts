import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox } from './secrets.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const unreadable = /not a sealed secret/;
const box = createSecretBox(randomBytes(32));

test('a sealed secret can be opened and differs every time', () => {
  const sealed = box.seal('whk_1', secret);
  expect(box.open('whk_1', sealed)).toBe(secret);
  expect(box.seal('whk_1', secret).equals(sealed)).toBe(false);
  expect(sealed.includes(secret)).toBe(false);
});

test('a sealed secret opens only with its key, for its webhook and unchanged', () => {
  const sealed = box.seal('whk_1', secret);
  expect(() => createSecretBox(randomBytes(32)).open('whk_1', sealed)).toThrow(unreadable);
  expect(() => box.open('whk_2', sealed)).toThrow(unreadable);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => box.open('whk_1', changed)).toThrow(unreadable);
  }
  for (const short of [Buffer.alloc(0), sealed.subarray(0, 20), sealed.subarray(0, -1)])
    expect(() => box.open('whk_1', short)).toThrow(unreadable);
});

test('the first key seals, and all keys open', () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const [before, meanwhile, after] = [
    createSecretBox(old),
    createSecretBox(fresh, [old]),
    createSecretBox(fresh),
  ];
  const sealedBefore = before.seal('whk_1', secret);
  expect(meanwhile.open('whk_1', sealedBefore)).toBe(secret);
  expect(meanwhile.isCurrent('whk_1', sealedBefore)).toBe(false);
  const sealedMeanwhile = meanwhile.seal('whk_1', secret);
  expect(meanwhile.isCurrent('whk_1', sealedMeanwhile)).toBe(true);
  expect(after.open('whk_1', sealedMeanwhile)).toBe(secret);
  expect(() => before.open('whk_1', sealedMeanwhile)).toThrow(unreadable);
});
