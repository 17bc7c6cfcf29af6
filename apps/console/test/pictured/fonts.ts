import { execFileSync } from 'node:child_process';

/** Those of Debian 12 with its package `chromium` and no other fonts: what the kept pictures are written in. */
const expected = { 'system-ui': 'DejaVu Sans', monospace: 'DejaVu Sans Mono' } as const;

/** Which font of the pictures this machine does not have; null when it has them. */
export function otherFont(): string | null {
  for (const [asked, family] of Object.entries(expected)) {
    const found = familyOf(asked);
    if (found !== family) return `${asked} is ${found}, and in the kept pictures it is ${family}`;
  }
  return null;
}

function familyOf(asked: string): string {
  try {
    return execFileSync('fc-match', ['--format=%{family}', asked], { encoding: 'utf8' });
  } catch {
    return 'unknown: there is no fc-match';
  }
}
