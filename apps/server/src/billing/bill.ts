import { createHash } from 'node:crypto';
import type { LogEvent } from '../event-log/event-log.ts';
import type { ResourceKind } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import { partsOf, whole } from './divide.ts';

/*
 * What a delivery adds to the upstream's bill. Pure; meter.sql.ts finds out what is new. The bill is exact: it is counted for every event
 * of the log, matched or not, once per resource and day, as the platform does. The bill is divided among the rules that got the delivery,
 * for the operator only. Accounts see a price that depends on their own matches alone (get-usage.ts).
 */

/** A rule that got the delivery. */
export interface Recipient {
  readonly accountId: string;
  readonly ruleId: string;
}

/** An event as it arrived from the upstream. It is billed whether a rule got it or not. */
export interface Delivery {
  readonly event: LogEvent;
  /** UTC day. */
  readonly day: string;
  readonly recipients: readonly Recipient[];
}

/** A resource that may be new on the bill. */
export interface Resource {
  /** The UTC day on which it is billed once. */
  readonly day: string;
  readonly meter: number;
  readonly id: string;
  readonly sourceId: string;
  readonly kind: ResourceKind;
  /** The first delivery that contained it, and the first whose item it is. Their recipients share the cost. */
  readonly broughtBy: Delivery;
  deliveredBy: Delivery | null;
}

/** Keys are those of `keyOf`. */
export type Resources = ReadonlyMap<string, Resource>;

export const keyOf = ({ day, meter, id }: { day: string; meter: number; id: string }): string =>
  `${day} ${meter} ${id}`;

/** The resources of the deliveries, without duplicates. */
export function resourcesOf(deliveries: readonly Delivery[]): Resources {
  const resources = new Map<string, Resource>();
  const meterOf = createMeterOf();
  for (const delivery of deliveries) {
    const { event } = delivery;
    const { sourceId } = event;
    const { itemKind, cameAlong, chargedAgain } = platforms[event.platform].billing;
    const add = (kind: ResourceKind, name: string, isItem: boolean) => {
      const day = isItem && chargedAgain === 'never' ? onceDay(event, delivery.day) : delivery.day;
      const named = { day, meter: meterOf(sourceId, kind), id: numberOf(name) };
      const key = keyOf(named);
      const known = resources.get(key);
      if (known === undefined) {
        const deliveredBy = isItem ? delivery : null;
        resources.set(key, { ...named, sourceId, kind, broughtBy: delivery, deliveredBy });
      } else if (isItem) known.deliveredBy ??= delivery;
    };
    const { users, posts } = cameAlong(event);
    add(itemKind, event.upstreamEventId, true);
    for (const id of users) add('user', id, false);
    for (const id of posts) add('post', id, false);
  }
  return resources;
}

/** An event that could not be stored may be any JSON value. */
export function isBillable(event: LogEvent | null): event is LogEvent {
  try {
    if (event === null || !/^[a-z]+:[a-z0-9-]{1,40}$/.test(event.sourceId)) return false;
    return resourcesOf([{ event, day: '', recipients: [] }]).size > 0;
  } catch {
    return false;
  }
}

const dayMs = 24 * 3_600_000;
/** Replays reach a day back, and the event log three. */
const onceDaysMax = 4;

/**
 * A resource that is never charged again is recorded under the item's own day, which a replay has as well. A day that is far from
 * the delivery is not trusted, and may not even be a date.
 */
function onceDay(event: LogEvent, deliveryDay: string): string {
  const distance = Math.abs(Date.parse(event.day) - Date.parse(deliveryDay));
  return distance <= onceDaysMax * dayMs ? event.day : deliveryDay;
}

function createMeterOf(): (sourceId: string, kind: ResourceKind) => number {
  const known = new Map<string, number>();
  return (sourceId, kind) => {
    const name = `${sourceId} ${kind}`;
    const meter = known.get(name) ?? digestOf(name).readInt32BE();
    known.set(name, meter);
    return meter;
  };
}

/** X's ids are numbers below 2^63: here those with 18 or 19 digits. All other names are hashed. */
function numberOf(name: string): string {
  return /^[1-9][0-9]{0,17}$/.test(name) || /^[1-8][0-9]{18}$/.test(name)
    ? name
    : String(digestOf(name).readBigInt64BE());
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** New resources per source, day of delivery and kind, and the parts of each rule. */
export interface Bill {
  readonly usage: readonly UsageLine[];
  readonly shares: readonly ShareLine[];
}

interface Line {
  readonly sourceId: string;
  readonly day: string;
  readonly kind: string;
  atLeast: number;
  atMost: number;
}
export type UsageLine = Line;
/** In millionths. */
export type ShareLine = Line & Recipient;

/** Bears the cost of what no rule got. */
export const noRecipient: Recipient = { accountId: '', ruleId: '' };

/**
 * `brought` are the keys of all new resources (at most), `delivered` those of new delivered items (at least). The rules that got a
 * delivery share its cost equally.
 */
export function billOf(
  resources: Resources,
  { brought, delivered }: { brought: Iterable<string>; delivered: Iterable<string> },
): Bill {
  const usage = new Map<string, UsageLine>();
  const shares = new Map<string, ShareLine>();
  const add = ({ sourceId, kind }: Resource, by: Delivery, reading: 'atLeast' | 'atMost') => {
    const { day } = by;
    lineIn(usage, `${sourceId} ${day} ${kind}`, { sourceId, day, kind, atLeast: 0, atMost: 0 })[reading]++;
    const recipients = by.recipients.length > 0 ? by.recipients : [noRecipient];
    const parts = recipients.length === 1 ? [whole] : partsOf(recipients.length);
    recipients.forEach(({ accountId, ruleId }, index) => {
      const empty = { sourceId, day, kind, accountId, ruleId, atLeast: 0, atMost: 0 };
      lineIn(shares, `${day} ${sourceId} ${kind} ${ruleId}`, empty)[reading] += parts[index] ?? 0;
    });
  };
  for (const key of brought) {
    const resource = resources.get(key);
    if (resource) add(resource, resource.broughtBy, 'atMost');
  }
  for (const key of delivered) {
    const resource = resources.get(key);
    if (resource?.deliveredBy) add(resource, resource.deliveredBy, 'atLeast');
  }
  return { usage: inOrder(usage), shares: inOrder(shares) };
}

function lineIn<L extends Line>(lines: Map<string, L>, key: string, empty: L): L {
  const line = lines.get(key) ?? empty;
  lines.set(key, line);
  return line;
}

/** In the order of the key, so that two concurrent writers wait for each other instead of deadlocking. */
function inOrder<L>(lines: ReadonlyMap<string, L>): L[] {
  return [...lines].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
}
