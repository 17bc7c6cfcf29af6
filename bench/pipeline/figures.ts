import { cpuSeconds } from '../cpu-share.ts';

/** The processor time of each process per event in one run, in microseconds. */
export interface Figures {
  readonly perSecond: number;
  readonly cpu: Readonly<Record<string, number>>;
}

/** `counted` has the processes by name. Processes with the same name up to a dash are added up. */
export async function measure(
  counted: Readonly<Record<string, number>>,
  work: () => Promise<number>,
): Promise<Figures> {
  const before = await cpuSeconds(counted);
  const startedAt = performance.now();
  const events = await work();
  const perSecond = (events * 1_000) / (performance.now() - startedAt);
  const after = await cpuSeconds(counted);
  const cpu: Record<string, number> = {};
  for (const [process, seconds] of Object.entries(after)) {
    const name = process.split('-')[0] ?? process;
    cpu[name] = (cpu[name] ?? 0) + ((seconds - (before[process] ?? 0)) * 1e6) / events;
  }
  return { perSecond, cpu };
}

/** Processor time per event of the parts that both paths have, without the feeder of the events. */
export function total({ cpu }: Figures): number {
  return ['server', 'client', 'postgres', 'nats'].reduce((sum, name) => sum + (cpu[name] ?? 0), 0);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [upper = Number.NaN, lower = upper] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

/** The median with minimum and maximum. */
export function spread(values: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

export function describe({ perSecond, cpu }: Figures): string {
  const parts = Object.entries(cpu).map(([name, micros]) => `${name} ${micros.toFixed(0)}`);
  return `${perSecond.toFixed(0)} events/s; µs per event: ${parts.join(', ')}`;
}
