import type { Platform } from '@earshot/contract';
import type { Bells } from '../../src/engines/bells.ts';
import type { Database } from '../../src/engines/database.ts';
import { createLeaseStore } from '../../src/engines/leases.ts';
import { createRegistrarStore } from '../../src/slots/registrar.sql.ts';
import { createRegistrarWorker } from '../../src/slots/registrar-worker.ts';
import type { UpstreamClient } from '../../src/upstream/client.ts';
import {
  type UpstreamCall,
  type UpstreamRules,
  UpstreamUnavailable,
} from '../../src/upstream/upstream-rules.ts';
import { silentLog, silentTelemetry } from '../support.ts';
import { rulesOf } from '../upstream-world.ts';
import { type Misdeed, watchCalls } from './watched-client.ts';

const leaseTtlMs = 2_000;
/** A history ends in less than a second: waits of minutes must not stop it. */
const pace = 100;
/** As the client gives up after 10 s. */
const answerWithinMs = 250;

export interface MortalOptions {
  readonly database: Database;
  readonly installation: string;
  readonly bells: Bells;
  readonly sourceId: string;
  readonly platform: Platform;
  readonly client: UpstreamClient;
  readonly reconcileEveryMs: number;
  readonly report: (misdeed: Misdeed) => void;
}

export interface MortalRegistrar {
  /** From now on it does nothing: it sends nothing to the database or the upstream, and does not clean up. */
  die(): void;
  /** Resolves when it is dead. */
  readonly death: Promise<void>;
  /** Crashes when the upstream has answered its next change, before anything is recorded. */
  dieAfterNextChange(): void;
  /** Pauses, like a process without processor time, when it is about to begin its next change; resolves when it has. */
  freezeAtNextChange(): Promise<void>;
  /** Continues, or does not pause after all; resolves when it has done what it was about to do. */
  thaw(): Promise<void>;
  /** Another node has its lease: from now on it must not change anything upstream. */
  retire(): void;
  stop(): Promise<void>;
}

class Dead extends Error {}

/** One for all: the metrics of a process watch its event loop, and thousands of them would stop it. */
const telemetry = silentTelemetry();

/** A registrar whose process can crash or be paused: all its effects pass through here. */
export function startMortalRegistrar(options: MortalOptions): MortalRegistrar {
  const { database, installation, bells, sourceId, platform, reconcileEveryMs } = options;
  const stop = new AbortController();
  const freezer = createFreezer();
  const death = Promise.withResolvers<void>();
  let dead = false;
  let diesAfterChange = false;
  const alive = <Methods extends object>(methods: Methods): Methods =>
    new Proxy(methods, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...given: unknown[]) => {
          await freezer.pass();
          if (dead) throw new Dead('the process is dead');
          return await Reflect.apply(method, target, given);
        };
      },
    });
  const client = watchCalls(impatient(options.client), options.report);
  const calls: UpstreamClient = {
    ...client,
    async call(method, path, init) {
      if (dead) throw new UpstreamUnavailable('the process is dead');
      const answer = await client.call(method, path, init);
      if (diesAfterChange && method !== 'GET') {
        dead = true;
        death.resolve();
      }
      return answer;
    },
  };
  const worker = createRegistrarWorker({
    sourceId,
    platform,
    installation,
    upstream: freezer.guard(rulesOf(platform, calls, pace)),
    store: alive(createRegistrarStore(database, { ruleDelayMs: 20_000 })),
    bells,
    leases: alive(createLeaseStore(database)),
    node: 'node',
    leaseTtlMs,
    checkpoint: () => undefined,
    telemetry,
    log: silentLog,
    timing: { reconcileEveryMs, pollIntervalMs: 10, retryDelayMs: 5 },
  });
  const ended = worker.run(stop.signal).catch((error: unknown) => {
    if (!(error instanceof Dead)) throw error;
  });
  // The test checks its outcome when it stops it.
  ended.catch(() => undefined);
  return {
    death: death.promise,
    die() {
      dead = true;
      death.resolve();
      stop.abort();
    },
    dieAfterNextChange() {
      diesAfterChange = true;
    },
    freezeAtNextChange: () => freezer.arm(),
    thaw: () => freezer.thaw(),
    retire: () => client.retire(),
    async stop() {
      stop.abort();
      await freezer.thaw();
      await ended;
    },
  };
}

function impatient(client: UpstreamClient): UpstreamClient {
  return {
    ...client,
    call: (method, path, init) =>
      client.call(method, path, {
        ...init,
        signal: AbortSignal.any([init.signal, AbortSignal.timeout(answerWithinMs)]),
      }),
  };
}

/** Pauses each caller from the moment at which a change is about to begin. */
function createFreezer() {
  let armed: PromiseWithResolvers<void> | null = null;
  let frozen: PromiseWithResolvers<void> | null = null;
  let resumed: Promise<unknown> = Promise.resolve();
  const pass = async () => await frozen?.promise;
  const pauseHere = async () => {
    if (!armed) return;
    frozen = Promise.withResolvers();
    armed.resolve();
    armed = null;
    await frozen.promise;
  };
  const guarded = (call: UpstreamCall): UpstreamCall => ({
    ...call,
    async permit(kind) {
      if (kind === 'change') await pauseHere();
      const permitted = call.permit(kind);
      resumed = permitted.catch(() => undefined);
      await permitted;
    },
  });
  return {
    pass,
    arm() {
      armed = Promise.withResolvers();
      return armed.promise;
    },
    async thaw() {
      armed = null;
      frozen?.resolve();
      frozen = null;
      // The permission is requested in the next turn of the event loop, and the change begins in the one after.
      await new Promise((resolve) => setImmediate(resolve));
      await resumed;
      await new Promise((resolve) => setImmediate(resolve));
    },
    guard: (upstream: UpstreamRules): UpstreamRules => ({
      ...upstream,
      add: (rules, call) => upstream.add(rules, guarded(call)),
      remove: (ids, call) => upstream.remove(ids, guarded(call)),
    }),
  };
}
