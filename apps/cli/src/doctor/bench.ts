import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createHttp } from './http.ts';
import { type Bench, doctorTagPrefix } from './step.ts';

/** The user stopped the run. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

export interface Access {
  readonly baseUrl: string;
  /** Null if no step needs a token. */
  readonly token: string | null;
}

interface BenchOptions extends Pick<Bench, 'isEnterprise' | 'isTapIdle' | 'busyRule'> {
  readonly access: Access;
  readonly pace: number;
  readonly signal: AbortSignal;
}

export type OwnBench = Omit<Bench, 'hasOthers'>;

export function createBench({ access, pace, signal, ...given }: BenchOptions): OwnBench {
  const run = randomBytes(4).toString('hex');
  let tags = 0;
  const realMs = (serviceMs: number) => serviceMs / pace;
  const throwIfStopped = () => {
    if (signal.aborted) throw new Stopped('The run was interrupted.');
  };
  return {
    ...given,
    url: access.baseUrl,
    http: createHttp(access),
    nextTag: () => {
      tags += 1;
      return `${doctorTagPrefix}${run}:${tags}`;
    },
    made: new Set(),
    word: `earshotdoctor${run}`,
    realMs,
    async pause(serviceMs) {
      throwIfStopped();
      await wait(realMs(serviceMs), undefined, { signal }).catch(() => undefined);
      throwIfStopped();
    },
    throwIfStopped,
  };
}

/** The same bench for the cleanup, which an interruption must not stop. */
export function withoutStop(bench: OwnBench): OwnBench {
  return {
    ...bench,
    pause: (serviceMs) => wait(bench.realMs(serviceMs)),
    throwIfStopped: () => undefined,
  };
}
