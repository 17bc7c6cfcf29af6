import { readdir, readFile } from 'node:fs/promises';

/** Linux counts the time of a process in hundredths of a second. */
const ticksPerSecond = 100;

/** Seconds of processor time that each process has used, with that of its children. */
export async function cpuSeconds(pids: Readonly<Record<string, number>>): Promise<Record<string, number>> {
  const stats = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
  );
  const processes = stats.filter(Boolean).map((stat) => {
    // The name is in parentheses and may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [parent, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((at) =>
      Number(fields[at]),
    );
    const pid = Number.parseInt(stat, 10);
    // Includes ended children: PostgreSQL ends connections and workers during the measurement.
    const ended = pid === process.pid ? 0 : endedUser + endedSystem;
    return { pid, parent, seconds: (user + system + ended) / ticksPerSecond };
  });
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [
      name,
      processes
        .filter((one) => one.pid === pid || (one.parent === pid && pid !== process.pid))
        .reduce((sum, one) => sum + one.seconds, 0),
    ]),
  );
}

/** The time used between two measurements, as text. */
export function cpuShares(before: Record<string, number>, after: Record<string, number>): string {
  const used = Object.entries(after).map(([name, at]) => [name, at - (before[name] ?? 0)] as const);
  const total = used.reduce((sum, [, seconds]) => sum + seconds, 0);
  return used
    .map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s (${Math.round((100 * seconds) / total)} %)`)
    .join(', ');
}
