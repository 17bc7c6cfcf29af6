import { type Constants, type Demand, demandOf, type Workload } from './model.ts';

/** What an installation has. A process of Earshot uses one core and little more; the engines use as many as there are. */
export interface Capacity {
  readonly ingestNodes: number;
  readonly matchNodes: number;
  readonly deliverNodes: number;
  readonly apiNodes: number;
  readonly postgresCores: number;
  /** Of all NATS servers together. */
  readonly natsCores: number;
  /** All of the above on one machine, which has so many cores; null on machines of their own. */
  readonly sharedCores: number | null;
  /** What one stream of an upstream brings at most. */
  readonly eventsPerSourceMax: number;
}

/** How much of something is used: from 1 on it does not keep up. */
export interface Share {
  readonly what: string;
  readonly share: number;
}

export function sharesOf(workload: Workload, capacity: Capacity, constants: Constants): Share[] {
  const { cores, turnShare, messages, webhookMessages } = demandOf(workload, constants);
  const sending = (webhookMessages * workload.endpointMs) / 1_000;
  const { sendersPerNode } = constants.webhooks;
  // A source is on one node at a time.
  const ingesting = Math.min(capacity.ingestNodes, workload.sources);
  const shares = [
    {
      what: 'streams of the upstreams',
      share: workload.events / (workload.sources * capacity.eventsPerSourceMax),
    },
    { what: '`ingest` and `match` nodes', share: cores.events / (ingesting + capacity.matchNodes) },
    { what: 'cores of the deliver nodes', share: cores.deliver / capacity.deliverNodes },
    {
      what: 'messages under way on the deliver nodes',
      share: sending / (capacity.deliverNodes * sendersPerNode),
    },
    { what: 'api nodes', share: cores.api / capacity.apiNodes },
    { what: 'messages of the event log', share: messages / constants.packing.messagesMax },
    { what: 'the turn of the writers', share: turnShare },
    { what: "PostgreSQL's cores", share: cores.postgres / capacity.postgresCores },
    { what: "NATS' cores", share: cores.nats / capacity.natsCores },
  ];
  if (capacity.sharedCores !== null)
    shares.push({ what: "the machine's cores", share: totalCores(cores) / capacity.sharedCores });
  return shares.toSorted((a, b) => b.share - a.share);
}

export function totalCores(cores: Demand['cores']): number {
  return Object.values(cores).reduce((sum, one) => sum + one, 0);
}

/** So many times the events, and of what follows from them; rules, endpoints and machines stay. */
function times(workload: Workload, factor: number): Workload {
  return {
    ...workload,
    events: workload.events * factor,
    webhookMatches: workload.webhookMatches * factor,
    streamDeliveries: workload.streamDeliveries * factor,
    lists: workload.lists * factor,
  };
}

/** Which part is full first when there are more and more events, and at how many of them a second. */
export function firstLimit(
  workload: Workload,
  capacity: Capacity,
  constants: Constants,
): { readonly what: string; readonly events: number } {
  const fullest = (factor: number) => sharesOf(times(workload, factor), capacity, constants)[0];
  let [low, high] = [0, 1];
  while ((fullest(high)?.share ?? 1) < 1) high *= 2;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if ((fullest(middle)?.share ?? 1) < 1) low = middle;
    else high = middle;
  }
  return { what: fullest(high)?.what ?? '', events: workload.events * high };
}
