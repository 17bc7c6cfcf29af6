/**
 * What a workload needs, from measured constants: pure arithmetic, linear but for what is shared. Events that come together share a
 * message of the log, a transaction and a sync of the disk, the more of them the higher the rate.
 */

/** What is asked of an installation. Rates are per second, of the whole installation. */
export interface Workload {
  readonly events: number;
  readonly matchesPerEvent: number;
  /** Credentials of upstreams, each with a stream of its own. */
  readonly sources: number;
  /** That match something now and then. */
  readonly rules: number;
  /** Matches that are due to webhooks, over all endpoints. */
  readonly webhookMatches: number;
  readonly endpoints: number;
  /** From sending a message to the endpoint's answer. */
  readonly endpointMs: number;
  readonly streams: number;
  /** Matches sent to streams, over all of them. */
  readonly streamDeliveries: number;
  /** Requests for 50 matches. */
  readonly lists: number;
  readonly storedDays: number;
  /** Of the event log: as many NATS servers. */
  readonly copies: 1 | 3;
  /** Those that match: each makes transactions of its own. */
  readonly matchNodes: number;
  /** Processes of Earshot: each costs something while nothing happens, and has connections. */
  readonly nodes: number;
  /** How often events come together depends on how busy the machine is; of a run it was counted. */
  readonly counted?: { readonly messages: number; readonly transactions: number };
}

/** Microseconds of processor time, for something of which there are so many a second. */
export interface Cost {
  readonly perEvent: number;
  readonly perMatch: number;
  /** Of the event log. */
  readonly perMessage: number;
  /** Of the match workers. */
  readonly perTransaction: number;
  /** Of each transaction, for each rule that has matches in it. */
  readonly perRuleRow: number;
}

/** Messages that come close together are synced together: the first ones of a second cost most. */
export interface NatsCost {
  readonly perEvent: number;
  readonly perMessage: number;
  readonly perMessageAlone: number;
  /** Messages a second at which half of them are synced with another. */
  readonly messagesShared: number;
}

export interface Constants {
  readonly idleCores: {
    readonly node: number;
    readonly postgresPerNode: number;
    readonly natsPerServer: number;
  };
  readonly cpu: {
    /** The roles `ingest` and `match` together: they were not measured apart. */
    readonly node: Cost;
    readonly postgres: Cost;
    /** Of three servers together. One alone was not measured: it is taken for a third. */
    readonly nats: NatsCost;
  };
  /** How long a message of the log, and a transaction of a match worker, is under way: what comes meanwhile shares the next. */
  readonly packing: {
    readonly messageMs: number;
    readonly eventsPerMessageMax: number;
    readonly transactionMs: number;
    readonly transactionMsPerEvent: number;
    readonly eventsPerTransactionMax: number;
    /** That one stream of NATS takes a second, with three copies that are synced. */
    readonly messagesMax: number;
  };
  readonly webhooks: {
    readonly nodeUsPerMessage: number;
    readonly nodeUsPerMatch: number;
    readonly postgresUsPerMessage: number;
    readonly matchesPerMessageMax: number;
    readonly commitsPerMessage: number;
    /** Messages that a node has under way at once. */
    readonly sendersPerNode: number;
    readonly bytesPerMatch: number;
    readonly walBytesPerMessage: number;
  };
  readonly streams: { readonly nodeUsPerDelivery: number; readonly nodeKiB: number };
  readonly lists: {
    readonly nodeUs: number;
    readonly postgresUs: number;
    readonly postgresUsPerStoredDay: number;
    readonly bytes: number;
  };
  readonly bytes: {
    readonly databasePerEvent: number;
    readonly databasePerMatch: number;
    readonly walPerEvent: number;
    readonly walPerMatch: number;
    readonly walPerTransaction: number;
    readonly walPerRuleRow: number;
    readonly logPerEvent: number;
    readonly upstreamPerEvent: number;
  };
  readonly memory: {
    readonly nodeMiB: number;
    readonly nodeKiBPerRule: number;
    readonly nodeMiBBusy: number;
  };
  /** What the writers of matches do one after the other. */
  readonly turn: { readonly turnMs: number; readonly turnMsPerMatch: number };
  readonly connectionsPerNode: number;
}

export interface Demand {
  /** Cores, by who uses them. */
  readonly cores: Readonly<Record<'idle' | 'events' | 'deliver' | 'api' | 'postgres' | 'nats', number>>;
  readonly messages: number;
  readonly transactions: number;
  readonly webhookMessages: number;
  readonly bytesPerSecond: {
    readonly upstream: number;
    /** Written to the disk of each NATS server. */
    readonly log: number;
    readonly wal: number;
    readonly database: number;
    readonly webhooks: number;
    readonly api: number;
    /** Between Earshot, PostgreSQL and NATS. */
    readonly internal: number;
  };
  readonly storedBytes: number;
  /** Share of the time in which some writer has the turn. */
  readonly turnShare: number;
  /** Commits of PostgreSQL that wait for its disk; those that come together wait once. */
  readonly commits: number;
  readonly connections: number;
  readonly nodeMiB: number;
}

export function demandOf(workload: Workload, constants: Constants): Demand {
  const { events, matchesPerEvent, copies, nodes } = workload;
  const { cpu, idleCores, webhooks, streams, lists, bytes, memory, turn } = constants;
  const matches = events * matchesPerEvent;
  const { messages, transactions } = workload.counted ?? packed(workload, constants);
  const ruleRows = Math.min(matches, transactions * workload.rules);
  const webhookMessages = messagesToEndpoints(workload, constants);
  const used = (cost: Cost) =>
    (events * cost.perEvent +
      matches * cost.perMatch +
      messages * cost.perMessage +
      transactions * cost.perTransaction +
      ruleRows * cost.perRuleRow) /
    1e6;
  const wal =
    events * bytes.walPerEvent +
    matches * bytes.walPerMatch +
    transactions * bytes.walPerTransaction +
    ruleRows * bytes.walPerRuleRow +
    webhookMessages * webhooks.walBytesPerMessage;
  const database = events * bytes.databasePerEvent + matches * bytes.databasePerMatch;
  const log = events * bytes.logPerEvent;
  return {
    cores: {
      // Of all nodes, while nothing happens.
      idle: nodes * idleCores.node,
      events: used(cpu.node),
      deliver:
        (webhookMessages * webhooks.nodeUsPerMessage + workload.webhookMatches * webhooks.nodeUsPerMatch) /
        1e6,
      api: (workload.streamDeliveries * streams.nodeUsPerDelivery + workload.lists * lists.nodeUs) / 1e6,
      postgres:
        nodes * idleCores.postgresPerNode +
        used(cpu.postgres) +
        (webhookMessages * webhooks.postgresUsPerMessage +
          workload.lists * (lists.postgresUs + lists.postgresUsPerStoredDay * workload.storedDays)) /
          1e6,
      nats: copies * (idleCores.natsPerServer + usedByNats(cpu.nats, { events, messages }) / 3),
    },
    messages,
    transactions,
    webhookMessages,
    bytesPerSecond: {
      upstream: events * bytes.upstreamPerEvent,
      log,
      wal,
      database,
      webhooks: workload.webhookMatches * webhooks.bytesPerMatch,
      api: workload.streamDeliveries * webhooks.bytesPerMatch + workload.lists * lists.bytes,
      // Into the log, to its other copies, out of it, and into PostgreSQL.
      internal: log * (copies + 1) + database,
    },
    storedBytes: database * 86_400 * workload.storedDays,
    turnShare: (transactions * turn.turnMs + matches * turn.turnMsPerMatch) / 1_000,
    commits: transactions + webhooks.commitsPerMessage * webhookMessages,
    connections: nodes * constants.connectionsPerNode,
    nodeMiB:
      memory.nodeMiB +
      (memory.nodeKiBPerRule * workload.rules + streams.nodeKiB * workload.streams) / 1_024 +
      (events > 0 ? memory.nodeMiBBusy : 0),
  };
}

function usedByNats(cost: NatsCost, { events, messages }: { events: number; messages: number }): number {
  const alone = messages / (1 + messages / cost.messagesShared);
  return (events * cost.perEvent + messages * cost.perMessage + alone * cost.perMessageAlone) / 1e6;
}

/**
 * While a message or a transaction is under way the next one collects. A transaction takes longer the more it has, so that there is a
 * rate from which on it is as large as it may be.
 */
function packed({ events, sources, matchNodes }: Workload, { packing }: Constants) {
  const { messageMs, eventsPerMessageMax, transactionMs, transactionMsPerEvent, eventsPerTransactionMax } =
    packing;
  const together = within(((events / sources) * messageMs) / 1_000, eventsPerMessageMax);
  const perNode = events / matchNodes;
  const left = 1 - (perNode * transactionMsPerEvent) / 1_000;
  const atOnce = left <= 0 ? eventsPerTransactionMax : (perNode * transactionMs) / 1_000 / left;
  return { messages: events / together, transactions: events / within(atOnce, eventsPerTransactionMax) };
}

const within = (value: number, max: number) => Math.min(max, Math.max(1, value));

/** An endpoint gets one message at a time; what comes meanwhile is in the next. */
function messagesToEndpoints(workload: Workload, { webhooks }: Constants): number {
  const { webhookMatches, endpoints, endpointMs } = workload;
  if (endpoints === 0) return 0;
  return (
    webhookMatches /
    within(((webhookMatches / endpoints) * endpointMs) / 1_000, webhooks.matchesPerMessageMax)
  );
}
