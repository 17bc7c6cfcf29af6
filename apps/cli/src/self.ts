/** How the user started `earshot`: from the repository, or as the built file. */
export function selfOf(env: Readonly<Record<string, string | undefined>>, file: string): string {
  if (!file.endsWith('.ts')) return 'earshot';
  const { DEV_SCRIPT: dev } = env;
  return dev === undefined ? 'pnpm earshot' : `${dev} earshot`;
}
