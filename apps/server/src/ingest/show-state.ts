import type { Platform } from '@earshot/contract';
import type { Lease } from '../engines/leases.ts';
import type { Events } from '../observability/events.ts';
import type { SourceState } from './connector.ts';
import type { ConnectorStore, ShownState } from './connector-store.ts';

export interface ShowStateOptions {
  readonly platform: Platform;
  readonly sourceId: string;
  readonly connectors: ConnectorStore;
  readonly events: Events;
}

/**
 * Shows people what a source is doing: in the database each time, in log and metrics on a change. Resolves when it
 * is written, or could not be: the stream must not suffer because the database is away.
 */
export function createShowState(
  options: ShowStateOptions,
  lease: Lease,
): (shown: ShownState) => Promise<void> {
  const { platform, sourceId, connectors, events } = options;
  let before: SourceState = 'starting';
  let writing = Promise.resolve();
  return (shown) => {
    if (shown.state !== before) events.sourceStateChanged({ platform, sourceId, from: before, ...shown });
    before = shown.state;
    writing = writing.then(() => connectors.recordState(lease, sourceId, shown)).catch(() => undefined);
    return writing;
  };
}
