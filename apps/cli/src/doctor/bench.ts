import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createHttp } from './http.ts';
import { type Bench, doctorTagPrefix } from './step.ts';

/** Somebody asked the run to end. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

export interface Access {
  readonly baseUrl: string;
  /** Null where only what needs none is asked. */
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
  const goOn = () => {
    if (signal.aborted) throw new Stopped('The run was interrupted.');
  };
  return {
    ...given,
    http: createHttp(access),
    nextTag: () => {
      tags += 1;
      return `${doctorTagPrefix}${run}:${tags}`;
    },
    made: new Set(),
    word: `earshotdoctor${run}`,
    realMs,
    async pause(serviceMs) {
      goOn();
      await wait(realMs(serviceMs), undefined, { signal }).catch(() => undefined);
      goOn();
    },
    goOn,
  };
}

/** The same without an ear for interruptions: what was made is undone in any case. */
export function withoutStop(bench: OwnBench): OwnBench {
  return {
    ...bench,
    pause: (serviceMs) => wait(bench.realMs(serviceMs)),
    goOn: () => undefined,
  };
}
