import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { measure } from '../pipeline/figures.ts';
import { root } from '../start-engines.ts';
import { type ClientsOptions, startClients } from './clients.ts';

/** Microseconds of processor time per delivery of a program that only writes as many bytes to as many sockets. */
export async function measureFloor(
  options: ClientsOptions & { rate: number; seconds: number; bytes: number },
): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const { rate, seconds, bytes, ...streams } = options;
  const given = Object.entries({ follow: streams.follow, rate, seconds, bytes });
  const program = spawn(
    process.execPath,
    [
      join(root, 'bench/readers/bare-streams.ts'),
      ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  stack.defer(() => void program.kill());
  const lines = on(createInterface(program.stdout), 'line');
  const nextLine = async () => Number((await lines.next()).value?.[0]);
  const url = `http://127.0.0.1:${await nextLine()}`;
  const clients = await startClients({ node: { url, key: 'none' }, ...streams }, stack);
  const { cpu } = await measure({ bare: program.pid ?? Number.NaN }, async () => {
    program.stdin.write('go\n');
    const sent = await nextLine();
    while (clients.received() < sent) await sleep(50);
    return sent;
  });
  return cpu['bare'] ?? Number.NaN;
}
