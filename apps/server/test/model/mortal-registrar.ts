import type { Platform } from '@earshot/contract';
import type { Database } from '../../src/adapters/postgres/database.ts';
import { createLeaseStore } from '../../src/adapters/postgres/lease-store.ts';
import { createRegistrarStore } from '../../src/adapters/postgres/registrar-store.ts';
import type { UpstreamClient } from '../../src/adapters/upstream/client.ts';
import type { Bells } from '../../src/runtime/bell.ts';
import { createRegistrarWorker } from '../../src/slots/registrar-worker.ts';
import { UpstreamUnavailable } from '../../src/slots/upstream-rules.ts';
import { silentEvents, silentLog } from '../support.ts';
import { rulesOf } from '../upstream-world.ts';

const leaseTtlMs = 600;
/** A history is over in less than a second: what takes minutes must not stop it. */
const pace = 100;

export interface MortalOptions {
  readonly database: Database;
  readonly installation: string;
  readonly bells: Bells;
  readonly sourceId: string;
  readonly platform: Platform;
  readonly client: UpstreamClient;
  readonly reconcileEveryMs: number;
}

export interface MortalRegistrar {
  /** From now on it does nothing any more: no word to the database, none to the upstream. It does not clean up. */
  die(): void;
  /** Dies when the upstream has answered its next change, before anything is recorded. */
  dieAfterNextChange(): void;
  stop(): Promise<void>;
  readonly ended: Promise<void>;
}

class Dead extends Error {}

/** One for all: metrics of a process watch its event loop, and thousands of them would stop it. */
const events = silentEvents();

/** A registrar whose process can die: everything it does to the world passes here. */
export function startMortalRegistrar(options: MortalOptions): MortalRegistrar {
  const { database, installation, bells, sourceId, platform, client, reconcileEveryMs } = options;
  const stop = new AbortController();
  let dead = false;
  let diesAfterChange = false;
  const alive = <Methods extends object>(methods: Methods): Methods =>
    new Proxy(methods, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...given: unknown[]) => {
          if (dead) throw new Dead('the process is dead');
          return await Reflect.apply(method, target, given);
        };
      },
    });
  const calls: UpstreamClient = {
    ...client,
    async call(method, path, asked) {
      if (dead) throw new UpstreamUnavailable('the process is dead');
      const answer = await client.call(method, path, asked);
      if (diesAfterChange && method !== 'GET') dead = true;
      return answer;
    },
  };
  const worker = createRegistrarWorker({
    sourceId,
    platform,
    installation,
    upstream: rulesOf(platform, calls, pace),
    store: alive(createRegistrarStore(database)),
    bells,
    leases: alive(createLeaseStore(database)),
    node: 'node',
    leaseTtlMs,
    checkpoint: () => undefined,
    events,
    log: silentLog,
    timing: { reconcileEveryMs, lookAgainMs: 10, retryDelayMs: 5 },
  });
  const ended = worker.run(stop.signal).catch((error: unknown) => {
    if (!(error instanceof Dead)) throw error;
  });
  // Looked at when it is stopped.
  ended.catch(() => undefined);
  return {
    die() {
      dead = true;
      stop.abort();
    },
    dieAfterNextChange() {
      diesAfterChange = true;
    },
    async stop() {
      stop.abort();
      await ended;
    },
    ended,
  };
}
