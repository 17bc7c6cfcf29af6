/** An election among NATS servers is often over sooner. */
const refusingAfterMs = 3_000;

interface AppendWatchOptions {
  /** The log refuses events, and why, or takes them again. */
  readonly onChange?: (change: { readonly refusing: string } | { readonly refusedMs: number }) => void;
  /** The NATS server that does not answer. */
  readonly server?: () => string;
}

/** One message on its way into the log. */
interface Append {
  refused(error: unknown): void;
  ended(how: 'taken' | 'given_up'): void;
}

export type AppendWatch = ReturnType<typeof createAppendWatch>;

/**
 * Notices when the event log takes no events: a message has been refused, or not answered, for some seconds. That ends when
 * the log has taken a message and none waits that long any more. One per node, for all its sources.
 */
export function createAppendWatch({ onChange, server = () => 'NATS' }: AppendWatchOptions = {}) {
  /** When those began that have waited for too long, the oldest first. */
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
        // The answer may lie in the socket when this process was suspended, or busy for as long.
        setImmediate(() => {
          if (isOver) return;
          stuck.set(append, since);
          if (outage === null)
            change({ since, reason: reason ?? `no answer from nats-server at ${server()}` });
        });
      }, refusingAfterMs);
      return append;
    },
    /** In the words of NATS; null while the log takes events. */
    refusing: (): string | null => outage?.reason ?? null,
    /** Since the oldest message was refused that still is; 0 without one. */
    refusedMs(): number {
      const [since] = stuck.values();
      return since === undefined ? 0 : performance.now() - since;
    },
    /** Calls back on each change, and now if the log refuses events. */
    listen(listener: (refusing: string | null) => void): Disposable {
      listeners.add(listener);
      if (outage !== null) listener(outage.reason);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** With its causes: the client hides some answers behind errors of its own. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${textOf(error.cause)}`;
}
