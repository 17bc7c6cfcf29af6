import type { Capacity } from './limits.ts';
import type { Workload } from './model.ts';

/** What docs/scale.md calls 1×: one X app that brings as much as X delivers to it, and a team that uses all of it. */
const base: Workload = {
  events: 250,
  matchesPerEvent: 1,
  sources: 1,
  rules: 1_000,
  webhookMatches: 125,
  endpoints: 100,
  endpointMs: 150,
  streams: 50,
  streamDeliveries: 125,
  lists: 5,
  storedDays: 30,
  copies: 3,
  matchNodes: 1,
  nodes: 1,
};

/** So many times of everything but the matches per event and the days. */
export function grown(
  factor: number,
  { nodes, matchNodes }: { nodes: number; matchNodes: number },
): Workload {
  return {
    ...base,
    events: base.events * factor,
    sources: base.sources * factor,
    rules: base.rules * factor,
    webhookMatches: base.webhookMatches * factor,
    endpoints: base.endpoints * factor,
    streams: base.streams * factor,
    streamDeliveries: base.streamDeliveries * factor,
    lists: base.lists * factor,
    nodes,
    matchNodes,
  };
}

export interface Stage {
  readonly name: string;
  /** Of 1×: rules, endpoints and readers. */
  readonly factor: number;
  readonly capacity: Capacity;
  /** Of Earshot. */
  readonly nodes: number;
}

const apart = { eventsPerSourceMax: 250, sharedCores: null };

export const stages: readonly Stage[] = [
  {
    name: 'one machine, 2 cores',
    factor: 1,
    capacity: {
      ...apart,
      ingestNodes: 1,
      matchNodes: 1,
      deliverNodes: 1,
      apiNodes: 1,
      postgresCores: 2,
      natsCores: 2,
      sharedCores: 2,
    },
    nodes: 1,
  },
  {
    name: 'engines on machines of their own: PostgreSQL 4 cores, NATS 3 × 2; a node for each role',
    factor: 10,
    capacity: {
      ...apart,
      ingestNodes: 1,
      matchNodes: 1,
      deliverNodes: 1,
      apiNodes: 1,
      postgresCores: 4,
      natsCores: 6,
    },
    nodes: 4,
  },
  {
    name: 'several nodes: 4 `ingest`, 4 `match`, 8 `deliver`, 4 `api`; PostgreSQL 8 cores',
    factor: 10,
    capacity: {
      ...apart,
      ingestNodes: 4,
      matchNodes: 4,
      deliverNodes: 8,
      apiNodes: 4,
      postgresCores: 8,
      natsCores: 6,
    },
    nodes: 20,
  },
  {
    name: 'more of them: 8 `ingest`, 8 `match`, 32 `deliver`, 8 `api`; PostgreSQL 32 cores, NATS 3 × 4',
    factor: 100,
    capacity: {
      ...apart,
      ingestNodes: 8,
      matchNodes: 8,
      deliverNodes: 32,
      apiNodes: 8,
      postgresCores: 32,
      natsCores: 12,
    },
    nodes: 56,
  },
];
