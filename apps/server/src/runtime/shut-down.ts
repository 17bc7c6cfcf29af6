/** compose.yaml and the rest of deploy/ wait longer than these two together before they kill a node. */
export const shutdownWithinMs = 30_000;
/** A load balancer notices within this time that a node is not ready. */
export const balancerNoticesMs = 5_000;

export interface ShutDown {
  /** Between "not ready" and the end of listening, for load balancers. */
  readonly drainDelayMs: number;
  /** How long stopping may take, from the end of the drain delay. The delay may be longer than this. */
  readonly withinMs: number;
  /** Ends the process when stopping takes longer. */
  readonly giveUp: () => void;
}

/**
 * Stops a node in order, so that it releases its leases and another node takes over at once. If that hangs, the process ends anyway, and
 * its successor finishes everything that it left.
 */
export async function shutDown(
  node: AsyncDisposable & { drain(): void },
  { drainDelayMs, withinMs, giveUp }: ShutDown,
): Promise<void> {
  node.drain();
  if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
  // Unreferenced, so that the timer does not keep the process alive.
  setTimeout(giveUp, withinMs).unref();
  await node[Symbol.asyncDispose]();
}
