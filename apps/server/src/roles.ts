import type { RoleName } from './config.ts';
import type { Worker } from './runtime/worker.ts';

/** What each role runs. The API itself is a server, not a worker; its role carries what must run beside it. */
export type Roles = Readonly<Record<RoleName, () => Promise<readonly Worker[]>>>;

export async function workersOf(roles: Roles, chosen: readonly RoleName[]): Promise<Worker[]> {
  const workers = await Promise.all(chosen.map((role) => roles[role]()));
  return workers.flat();
}
