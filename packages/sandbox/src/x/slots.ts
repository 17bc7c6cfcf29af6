import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { XPost } from './post.ts';
import type { Projection } from './projection.ts';
import type { XRule } from './rule-set.ts';

/** One open filtered stream. */
export interface XConnection {
  /** False when the Post was not written, because the stream is stalled or closed. */
  readonly deliver: (post: XPost, rules: readonly XRule[]) => boolean;
  readonly projection: Projection;
  readonly isSlow: () => boolean;
  readonly cork: () => void;
  readonly uncork: () => void;
  readonly stall: () => void;
  readonly isStalled: () => boolean;
  readonly cut: () => void;
  readonly reset: () => void;
  readonly end: () => void;
  /** Sends a message that is no Post. */
  readonly tell: (message: object) => void;
  /** No more Posts; the keep-alives go on. */
  readonly mute: () => void;
}

/** One line of the Connections API (x.md §5.3). */
export interface ConnectionRecord {
  readonly id: string;
  readonly clientIp: string;
  readonly connectedAt: string;
  disconnectedAt: string | undefined;
  disconnectReason: string | undefined;
}

export type DisconnectReason =
  | 'ClientDisconnected'
  | 'SlowReader'
  | 'ForceDisconnect'
  | 'OperationalDisconnect';

/** The connection slots of an App. A slot can stay taken for a while after its client went away. */
export interface Slots {
  /** False when every slot is taken; with `replace` the oldest connection makes room instead. */
  makeRoom(): boolean;
  take(connection: XConnection, clientIp: string): ConnectionRecord;
  release(connection: XConnection): void;
  open(): XConnection[];
  /** Connections ever opened. */
  total(): number;
  history(): readonly ConnectionRecord[];
  /** Ends the connection; false when it is not open. */
  kill(id: string, reason: DisconnectReason): boolean;
  /** `how` breaks it off: by default it is cut. */
  killConnection(connection: XConnection, reason: string, how?: () => void): void;
}

interface SlotsOptions {
  readonly count: number;
  readonly replace: boolean;
  readonly holdMs: number;
  readonly clock: Clock;
}

const historyMax = 1_000;

export function createSlots({ count, replace, holdMs, clock }: SlotsOptions): Slots {
  const open = new Map<XConnection, ConnectionRecord>();
  const history: ConnectionRecord[] = [];
  let held = 0;
  let total = 0;

  const killConnection: Slots['killConnection'] = (connection, reason, how = connection.cut) => {
    const record = open.get(connection);
    if (record !== undefined) record.disconnectReason = reason;
    release(connection);
    how();
  };

  const release = (connection: XConnection) => {
    const record = open.get(connection);
    if (record === undefined) return;
    open.delete(connection);
    record.disconnectedAt = new Date(clock.nowMs()).toISOString();
    const isByServer = record.disconnectReason !== undefined;
    record.disconnectReason ??= 'ClientDisconnected';
    if (isByServer || holdMs === 0) return;
    held += 1;
    clock.after(holdMs, () => {
      held -= 1;
    });
  };

  return {
    makeRoom() {
      if (open.size + held < count) return true;
      const [oldest] = open.keys();
      if (!replace || oldest === undefined) return false;
      killConnection(oldest, 'ForceDisconnect');
      return true;
    },
    take(connection, clientIp) {
      const connectedAt = new Date(clock.nowMs()).toISOString();
      const record = {
        id: randomUUID(),
        clientIp,
        connectedAt,
        disconnectedAt: undefined,
        disconnectReason: undefined,
      };
      open.set(connection, record);
      total += 1;
      history.push(record);
      if (history.length > historyMax) history.shift();
      return record;
    },
    release,
    open: () => [...open.keys()],
    total: () => total,
    history: () => history,
    kill(id, reason) {
      const found = [...open].find(([, record]) => record.id === id);
      if (found === undefined) return false;
      killConnection(found[0], reason);
      return true;
    },
    killConnection,
  };
}
