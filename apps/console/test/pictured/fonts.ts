import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Other packages may bring other fonts, which fontconfig would choose. */
export const picturedFonts = { FONTCONFIG_FILE: fileURLToPath(new URL('fonts.conf', import.meta.url)) };

/** The fonts of the stored pictures: those of Debian 12 with its package `chromium` and no others. */
const expected = { 'system-ui': 'DejaVu Sans', monospace: 'DejaVu Sans Mono' } as const;

/** Names the first font of this machine that differs from the stored pictures; null if none does. */
export function otherFont(): string | null {
  for (const [generic, family] of Object.entries(expected)) {
    const found = familyOf(generic);
    if (found !== family) return `${generic} is ${found}, but the stored pictures use ${family}`;
  }
  return null;
}

function familyOf(generic: string): string {
  try {
    const env = { ...process.env, ...picturedFonts };
    return execFileSync('fc-match', ['--format=%{family}', generic], { encoding: 'utf8', env });
  } catch {
    return 'unknown (fc-match is not installed)';
  }
}
