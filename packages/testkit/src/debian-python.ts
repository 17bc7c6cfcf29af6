import { spawnSync } from 'node:child_process';

/** Another one in the PATH does not have Debian's packages. */
export const python = '/usr/bin/python3';

/** The packages of Debian that are missing, for `skipUnless`; null if Python can import all modules. */
export function missingPython(modules: readonly string[], packages: string): string | null {
  const { status } = spawnSync(python, ['-c', ['import sys', ...modules].join(', ')]);
  return status === 0 ? null : `python3 ${packages}`.trim();
}
