/** Most NATS elections are shorter. */
const refusingAfterMs = 3_000;

interface AppendWatchOptions {
  /** Called when the log refuses events, with the reason, or accepts them again. */
  readonly onChange?: (change: { readonly refusing: string } | { readonly refusedMs: number }) => void;
  /** The address of the NATS server, for messages. */
  readonly server?: () => string;
}

/** A message that is being appended. */
interface Append {
  refused(error: unknown): void;
  ended(how: 'taken' | 'given_up'): void;
}

export type AppendWatch = ReturnType<typeof createAppendWatch>;

/**
 * Detects that the event log refuses events: a message was refused or unanswered for some seconds. The outage ends
 * when the log has accepted a message and none is stuck. One per node, for all sources.
 */
export function createAppendWatch({ onChange, server = () => 'NATS' }: AppendWatchOptions = {}) {
  /** Start times of stuck messages, oldest first. */
  const stuck = new Map<Append, number>();
  const listeners = new Set<(refusing: string | null) => void>();
  let outage: { readonly since: number; readonly reason: string } | null = null;

  function change(next: typeof outage): void {
    const refusedMs = performance.now() - (outage?.since ?? 0);
    outage = next;
    onChange?.(next === null ? { refusedMs } : { refusing: next.reason });
    for (const listener of listeners) listener(next?.reason ?? null);
  }

  return {
    begin(): Append {
      const since = performance.now();
      let reason: string | null = null;
      let isOver = false;
      const append: Append = {
        refused(error) {
          reason = textOf(error);
        },
        ended(how) {
          isOver = true;
          clearTimeout(timer);
          stuck.delete(append);
          if (how === 'taken' && outage !== null && stuck.size === 0) change(null);
        },
      };
      const timer = setTimeout(() => {
        // The answer may already be in the socket if this process was suspended or busy.
        setImmediate(() => {
          if (isOver) return;
          stuck.set(append, since);
          if (outage === null)
            change({ since, reason: reason ?? `no answer from nats-server at ${server()}` });
        });
      }, refusingAfterMs);
      return append;
    },
    /** The error text of NATS; null while the log accepts events. */
    refusing: (): string | null => outage?.reason ?? null,
    /** Time since the oldest stuck message; 0 if there is none. */
    refusedMs(): number {
      const [since] = stuck.values();
      return since === undefined ? 0 : performance.now() - since;
    },
    /** Calls the listener on each change, and now if the log refuses events. */
    listen(listener: (refusing: string | null) => void): Disposable {
      listeners.add(listener);
      if (outage !== null) listener(outage.reason);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** Includes the causes, because the client wraps some answers in its own errors. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${textOf(error.cause)}`;
}
