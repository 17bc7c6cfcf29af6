import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../http/json.ts';
import type { StreamPipe } from '../stream-pipe.ts';
import type { XKnobs } from './knobs.ts';
import type { XPost } from './post.ts';
import type { XRule } from './rule-set.ts';

/** One open filtered stream. */
export interface XConnection {
  readonly pipe: StreamPipe;
  /** The record that was written; undefined when the stream takes none. */
  deliver(post: XPost, rules: readonly XRule[]): JsonObject | undefined;
  isSlow(): boolean;
}

/** One entry of the Connections API (x.md §5.3). */
export interface ConnectionRecord {
  readonly id: string;
  readonly clientIp: string;
  readonly connectedAt: string;
  disconnectedAt: string | undefined;
  disconnectReason: string | undefined;
}

export type Connections = ReturnType<typeof createConnections>;

interface ConnectionsOptions {
  readonly connectionsMax: number;
  readonly knobs: Pick<XKnobs, 'secondConnection' | 'connectionHoldMs'>;
  readonly clock: Clock;
}

const historyMax = 1_000;

function newRecord(clientIp: string, connectedAt: string): ConnectionRecord {
  return {
    id: randomUUID(),
    clientIp,
    connectedAt,
    disconnectedAt: undefined,
    disconnectReason: undefined,
  };
}

/** The connections of an app. One can count towards the limit for a while after its client has gone. */
export function createConnections(options: ConnectionsOptions) {
  const { connectionsMax, knobs, clock } = options;
  const open = new Map<XConnection, ConnectionRecord>();
  const history: ConnectionRecord[] = [];
  let held = 0;
  let total = 0;
  const now = () => new Date(clock.nowMs()).toISOString();

  const close = (connection: XConnection, reason: string) => {
    const record = open.get(connection);
    if (record === undefined) return false;
    open.delete(connection);
    record.disconnectedAt = now();
    record.disconnectReason = reason;
    return true;
  };
  /** Records the reason and closes the connection: at once, unless `end` does it in another way. */
  const disconnect = (connection: XConnection, reason: string, end: () => void = connection.pipe.destroy) => {
    close(connection, reason);
    end();
  };

  return {
    /** False when the limit is reached, unless the oldest connection is closed instead. */
    makeRoom(): boolean {
      if (open.size + held < connectionsMax) return true;
      const [oldest] = open.keys();
      if (knobs.secondConnection === 'refuse' || oldest === undefined) return false;
      disconnect(oldest, 'ForceDisconnect');
      return true;
    },
    add(connection: XConnection, clientIp: string): void {
      const record = newRecord(clientIp, now());
      open.set(connection, record);
      total += 1;
      history.push(record);
      if (history.length > historyMax) history.shift();
    },
    /** For a connection that its client has closed. */
    remove(connection: XConnection): void {
      if (!close(connection, 'ClientDisconnected') || knobs.connectionHoldMs === 0) return;
      held += 1;
      clock.after(knobs.connectionHoldMs, () => {
        held -= 1;
      });
    },
    open: () => [...open.keys()],
    /** Connections ever opened. */
    total: () => total,
    history: (): readonly ConnectionRecord[] => history,
    /** False when no open connection has this id. */
    kill(id: string): boolean {
      const found = [...open].find(([, record]) => record.id === id);
      if (found === undefined) return false;
      disconnect(found[0], 'ForceDisconnect');
      return true;
    },
    disconnect,
    closeAll(): void {
      for (const connection of open.keys()) disconnect(connection, 'RuleConfigurationIssue');
    },
  };
}
