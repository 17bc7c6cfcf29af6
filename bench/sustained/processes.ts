import { cpuSeconds, machineSeconds } from '../cpu-share.ts';
import { memoryMiB, memoryOfAllMiB } from '../memory.ts';

export interface Sample {
  readonly atMs: number;
  readonly memoryMiB: Readonly<Record<string, number>>;
  readonly cpuSeconds: Readonly<Record<string, number>>;
  readonly machine: Awaited<ReturnType<typeof machineSeconds>>;
}

/** Of each process by its name. PostgreSQL is many processes, which share memory. */
export async function sampleProcesses(pids: Readonly<Record<string, number>>): Promise<Sample> {
  const memory = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => {
      const ofAll = name === 'postgres' ? memoryOfAllMiB : memoryMiB;
      return [name, await ofAll(pid).catch(() => 0)] as const;
    }),
  );
  return {
    atMs: performance.now(),
    memoryMiB: Object.fromEntries(memory),
    cpuSeconds: await cpuSeconds(pids),
    machine: await machineSeconds(),
  };
}

/**
 * `name MiB/percent of a core`; a process that was started again has no percentage in that row. Then how much of all processors
 * was idle, and how much others used: above some percent, the figures are not those of the machine.
 */
export function describeProcesses(before: Sample, after: Sample): string {
  const all = after.machine.all - before.machine.all;
  const busy = after.machine.busy - before.machine.busy;
  const ours = Object.entries(after.cpuSeconds).map(([name, s]) =>
    Math.max(0, s - (before.cpuSeconds[name] ?? 0)),
  );
  const others = busy - ours.reduce((sum, s) => sum + s, 0);
  const share = (s: number) => Math.max(0, Math.round((100 * s) / all));
  const machine = `idle ${share(all - busy)} %, others ${share(others)} %`;
  return `${describeOurs(before, after)}; ${machine}`;
}

function describeOurs(before: Sample, after: Sample): string {
  return Object.entries(after.cpuSeconds)
    .map(([name, seconds]) => {
      const used = seconds - (before.cpuSeconds[name] ?? 0);
      const percent = (100_000 * used) / (after.atMs - before.atMs);
      return `${name} ${after.memoryMiB[name]}/${used < 0 ? '–' : Math.round(percent)}`;
    })
    .join(', ');
}
