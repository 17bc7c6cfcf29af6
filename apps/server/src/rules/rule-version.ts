import { Failure } from '../runtime/failure.ts';

/** Somebody changed the rule after the caller had read it: what the caller meant may be wrong now. */
export function assertVersion(version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || version === ifVersion) return;
  throw new Failure(
    'failed_precondition',
    `The rule has version ${version}, not ${ifVersion}: it was changed. Read it again, and then decide.`,
  );
}
