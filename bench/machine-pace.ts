import { hash } from 'node:crypto';

/** Fits into the processor cache. */
const small = Buffer.alloc(64 * 1_024, 'earshot');
/** Does not fit into the processor cache. */
const [large, other] = [Buffer.alloc(64 * 1_048_576, 1), Buffer.alloc(64 * 1_048_576, 2)];

const compute = () => {
  for (let n = 0; n < 50; n++) hash('sha256', small);
};
const move = () => void large.copy(other);

function cpuMs(work: () => void): string {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000).toFixed(1);
}

/**
 * The processor time of two fixed pieces of work outside of JavaScript: one computes, one moves memory. A virtual machine shares
 * both with others, and may take twice as long as a minute before. Compare figures only if these times are similar.
 */
export function describePace(): string {
  return `pace ${cpuMs(compute)}/${cpuMs(move)} ms`;
}
