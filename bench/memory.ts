import { readdir, readFile } from 'node:fs/promises';

/** What a process has in memory. */
export async function memoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** What a process and its children have in memory, each page counted once. */
export async function memoryOfAllMiB(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    pids.map(async (one) => {
      const stat = one === String(pid) ? '' : await readFile(`/proc/${one}/stat`, 'utf8').catch(() => null);
      if (stat === null) return 0;
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (stat !== '' && parent !== String(pid)) return 0;
      const memory = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+)/m.exec(memory)?.[1] ?? 0);
    }),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024);
}
