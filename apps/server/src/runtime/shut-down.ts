/** compose.yaml and the rest of deploy/ wait longer than these two together before they kill a node. */
export const shutdownWithinMs = 30_000;
/** A load balancer notices within this time that a node is not ready. */
export const balancerNoticesMs = 5_000;

export interface ShutDown {
  /** Between "not ready" and the end of listening, for load balancers. */
  readonly drainDelayMs: number;
  /** How long stopping may take. Counts from the end of the drain delay, which may be longer than this. */
  readonly withinMs: number;
  /** Ends the process when stopping takes longer. */
  readonly giveUp: () => void;
}

/**
 * Stops a node in order, so that it gives its leases back and another node takes over at once. When that hangs, the process ends all
 * the same; everything it left is finished by its successor.
 */
export async function shutDown(
  node: AsyncDisposable & { drain(): void },
  { drainDelayMs, withinMs, giveUp }: ShutDown,
): Promise<void> {
  node.drain();
  if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
  // Stays behind without holding the process: something else might, after the node is down.
  setTimeout(giveUp, withinMs).unref();
  await node[Symbol.asyncDispose]();
}
