import type { UpstreamRule } from './upstream-rules.ts';

/** A rule that a platform would have if it matched items. */
export interface LocalRule extends UpstreamRule {
  /** When it was registered: earlier items do not match. */
  readonly since: Date;
}

/** The registered rules of sources whose platform does not match: Earshot matches their items. */
export interface LocalRules {
  list(sourceId: string): Promise<readonly LocalRule[]>;
  /** Yields all rules after each change that may concern the source, until the signal is aborted. */
  changes(sourceId: string, signal: AbortSignal): AsyncIterable<readonly LocalRule[]>;
}
