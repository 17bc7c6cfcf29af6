import { Failure } from '../runtime/failure.ts';
import type { Principal } from './principal.ts';

/** Streams that a key has open on this node. Throws when there is no place left. */
export type TakeStreamPlace = (principal: Principal) => Disposable;

export function createStreamLimit({
  perKeyMax,
  contact,
}: {
  perKeyMax: number;
  contact: string;
}): TakeStreamPlace {
  const open = new Map<string, number>();
  return ({ keyId }) => {
    const used = open.get(keyId) ?? 0;
    if (used >= perKeyMax) {
      throw new Failure(
        'resource_exhausted',
        `The key has ${used} streams open, which is as many as it may: close one, or ask ${contact} for more.`,
        { details: { limit: perKeyMax, used, contact }, retryAfterSeconds: 10 },
      );
    }
    open.set(keyId, used + 1);
    return {
      [Symbol.dispose]() {
        const left = (open.get(keyId) ?? 1) - 1;
        if (left === 0) open.delete(keyId);
        else open.set(keyId, left);
      },
    };
  };
}
