import { firstLimit, totalCores } from './limits.ts';
import { checks, constants, measured, type Point, rulesOf } from './measured.ts';
import { type Demand, demandOf, type Workload } from './model.ts';
import { grown, stages } from './stages.ts';

/** The tables of docs/scale.md, as Markdown. */

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
/** Two digits that count. */
const short = (value: number) =>
  value >= 100 ? whole(Number(value.toPrecision(2))) : String(Number(value.toPrecision(2)));
const percent = (share: number) => `${short(100 * share)} %`;
const pair = (real: number, model: number) => `${short(real)} / ${short(model)}`;

/** The workload of a run. */
function workloadOf(point: Point): Workload {
  return {
    events: point.eventsPerSecond,
    matchesPerEvent: point.matchesPerEvent,
    sources: 2,
    rules: rulesOf(point),
    webhookMatches: point.webhookMatchesPerSecond,
    endpoints: point.endpoints ?? 0,
    // As long as the machine took for it, which had other work to do.
    endpointMs: (1_000 * (point.endpoints ?? 0)) / Math.max(1, point.webhookMessagesPerSecond),
    streams: 0,
    streamDeliveries: 0,
    lists: 0,
    storedDays: 1,
    copies: 3,
    matchNodes: 1,
    nodes: 1,
    counted: { messages: point.messagesPerSecond, transactions: point.transactionsPerSecond },
  };
}

export interface Compared {
  readonly what: string;
  readonly real: number;
  readonly model: number;
}

const nodeCores = ({ cores }: Demand) => cores.idle + cores.events + cores.deliver + cores.api;

export function compare(point: Point): Compared[] {
  const demand = demandOf(workloadOf(point), constants);
  const { cpu, bytes } = point;
  return [
    { what: 'node, cores', real: cpu['server'] ?? 0, model: nodeCores(demand) },
    { what: 'PostgreSQL, cores', real: cpu['postgres'] ?? 0, model: demand.cores.postgres },
    { what: 'NATS, cores', real: cpu['nats'] ?? 0, model: demand.cores.nats },
    {
      what: 'all cores',
      real: Object.values(cpu).reduce((sum, one) => sum + one, 0),
      model: totalCores(demand.cores),
    },
    { what: 'WAL, kB/s', real: bytes.wal / 1e3, model: demand.bytesPerSecond.wal / 1e3 },
    {
      what: 'PostgreSQL grows by, kB/s',
      real: bytes.database / 1e3,
      model: demand.bytesPerSecond.database / 1e3,
    },
    { what: 'event log, kB/s', real: bytes.log / 1e3, model: demand.bytesPerSecond.log / 1e3 },
  ];
}

const curveColumns = ['node, cores', 'PostgreSQL, cores', 'NATS, cores', 'WAL, kB/s'];

function curve(name: string, grows: string, of: (point: Point) => number): string {
  const points = measured.points.filter((point) => point.curve === name);
  const rows = points.map((point) => [
    short(of(point)),
    ...compare(point)
      .filter(({ what }) => curveColumns.includes(what))
      .map(({ real, model }) => pair(real, model)),
  ]);
  return table([grows, 'node, cores', 'PostgreSQL, cores', 'NATS ×3, cores', 'WAL, kB/s'], rows);
}

const idleTable = () =>
  table(
    ['rules', 'accounts', 'node, % of a core', 'PostgreSQL, % of a core', 'node, MiB'],
    measured.idle.map(({ rules, accounts, node, postgres, nodeMiB }) => [
      whole(rules),
      whole(accounts),
      short(node),
      short(postgres),
      whole(nodeMiB),
    ]),
  );

const daysTable = () =>
  table(
    [
      'stored days',
      'a list of 50, node / PostgreSQL, µs',
      'of one rule, node / PostgreSQL, µs',
      'storing a match, PostgreSQL, µs',
    ],
    measured.days.map(({ days, list, listOfRule, store }) => [
      whole(days),
      `${whole(list.server)} / ${whole(list.postgres)}`,
      `${whole(listOfRule.server)} / ${whole(listOfRule.postgres)}`,
      whole(store),
    ]),
  );

const streamsTable = () =>
  table(
    ['open streams', 'each gets', 'matches sent/s', 'node, µs a match sent', 'node, MiB'],
    measured.streams.map(({ streams, follow, deliveriesPerSecond, node, nodeMiB }) => [
      whole(streams),
      follow === 'rule' ? 'a rule of its own' : 'all of one account',
      whole(deliveriesPerSecond),
      whole(node),
      whole(nodeMiB),
    ]),
  );

/** Measured / model, where the model has it. */
export const growthTables = (): Record<string, string> => ({
  events: curve('events', 'events/s', (point) => point.eventsPerSecond),
  matches: curve('matches', 'matches/s', (point) => point.matchesPerSecond),
  accounts: curve('accounts', 'accounts', (point) => point.accounts ?? 0),
  endpoints: curve('endpoints', 'endpoints', (point) => point.endpoints ?? 0),
  idle: idleTable(),
  days: daysTable(),
  streams: streamsTable(),
});

/** What one of each costs: microseconds of processor time, and bytes. */
export function costsTable(): string {
  const { cpu, webhooks, streams, lists, bytes } = constants;
  const row = (name: string, ...values: (number | string)[]) => [
    name,
    ...values.map((value) => (typeof value === 'string' ? value : short(value))),
  ];
  return table(
    ['one', 'node, µs', 'PostgreSQL, µs', 'NATS ×3, µs', 'WAL, bytes', 'stored in PostgreSQL, bytes'],
    [
      row(
        'event',
        cpu.node.perEvent,
        cpu.postgres.perEvent,
        cpu.nats.perEvent,
        bytes.walPerEvent,
        bytes.databasePerEvent,
      ),
      row('match', cpu.node.perMatch, cpu.postgres.perMatch, '', bytes.walPerMatch, bytes.databasePerMatch),
      row(
        'message of the log',
        cpu.node.perMessage,
        cpu.postgres.perMessage,
        `${short(cpu.nats.perMessage + cpu.nats.perMessageAlone)} alone, ${short(cpu.nats.perMessage)} among thousands`,
        '',
        '',
      ),
      row(
        'transaction',
        cpu.node.perTransaction,
        cpu.postgres.perTransaction,
        '',
        bytes.walPerTransaction,
        '',
      ),
      row(
        'message to a webhook',
        webhooks.nodeUsPerMessage,
        webhooks.postgresUsPerMessage,
        '',
        webhooks.walBytesPerMessage,
        '',
      ),
      row('match sent to a stream', streams.nodeUsPerDelivery, '', '', '', ''),
      row('list of 50 matches', lists.nodeUs, lists.postgresUs, '', '', ''),
    ],
  );
}

const perMonth = 30 * 86_400;
const sizes = [
  { name: '1×', workload: grown(1, { nodes: 1, matchNodes: 1 }) },
  { name: '10×', workload: grown(10, { nodes: 12, matchNodes: 2 }) },
  { name: '100×', workload: grown(100, { nodes: 100, matchNodes: 16 }) },
];

/** What 1×, 10× and 100× need. */
export function needsTable(): string {
  const all = sizes.map(({ workload }) => ({ workload, demand: demandOf(workload, constants) }));
  const row = (name: string, of: (one: (typeof all)[number]) => string) => [name, ...all.map(of)];
  const cores = (name: keyof Demand['cores']) =>
    row(`\`${name}\`, cores`, ({ demand }) => short(demand.cores[name]));
  const traffic = (bytes: number) => `${short((bytes * perMonth) / 1e12)} TB`;
  return table(
    ['', ...sizes.map(({ name }) => name)],
    [
      row('events/s', ({ workload }) => whole(workload.events)),
      row('messages of the log/s', ({ demand }) => short(demand.messages)),
      row('transactions of matches/s', ({ demand }) => short(demand.transactions)),
      row('messages to webhooks/s', ({ demand }) => short(demand.webhookMessages)),
      row('`ingest` and `match`, cores', ({ demand }) => short(demand.cores.events)),
      cores('deliver'),
      cores('api'),
      row('PostgreSQL, cores', ({ demand }) => short(demand.cores.postgres)),
      row('NATS ×3, cores', ({ demand }) => short(demand.cores.nats)),
      row('all cores', ({ demand }) => short(totalCores(demand.cores))),
      row('commits/s that wait for the disk', ({ demand }) => short(demand.commits)),
      row('the turn of the writers', ({ demand }) => percent(demand.turnShare)),
      row('WAL', ({ demand }) => `${short(demand.bytesPerSecond.wal / 1e6)} MB/s`),
      row('PostgreSQL, 30 days', ({ demand }) => `${short(demand.storedBytes / 1e12)} TB`),
      row(
        'event log, a copy, a day',
        ({ demand }) => `${short((demand.bytesPerSecond.log * 86_400) / 1e9)} GB`,
      ),
      row('from the upstreams, a month', ({ demand }) => traffic(demand.bytesPerSecond.upstream)),
      row('to webhooks and readers, a month', ({ demand }) =>
        traffic(demand.bytesPerSecond.webhooks + demand.bytesPerSecond.api),
      ),
      row('between the machines, a month', ({ demand }) => traffic(demand.bytesPerSecond.internal)),
      row('connections to PostgreSQL, at most', ({ demand }) => whole(demand.connections)),
    ],
  );
}

/** The same as something to buy: twice the cores, a third of the disk left free, and the log for a day without PostgreSQL. */
export function monthTable(): string {
  const all = sizes.map(({ workload }) => demandOf(workload, constants));
  const row = (name: string, of: (demand: Demand) => string) => [name, ...all.map(of)];
  const twice = (cores: number) => whole(Math.ceil(2 * cores));
  const tb = (bytes: number) => short(bytes / 1e12);
  return table(
    ['', ...sizes.map(({ name }) => name)],
    [
      row('nodes of Earshot, cores', (demand) => twice(nodeCores(demand))),
      row('PostgreSQL, cores', ({ cores }) => twice(cores.postgres)),
      row('three NATS servers, cores', ({ cores }) => `3 × ${Math.max(2, Math.ceil((2 * cores.nats) / 3))}`),
      row('disk of PostgreSQL, TB', ({ storedBytes }) => tb(storedBytes * 1.5)),
      row(
        'disk of the three NATS servers, TB',
        ({ bytesPerSecond }) => `3 × ${tb(bytesPerSecond.log * 86_400 * 2)}`,
      ),
      row('traffic with the outside a month, TB', ({ bytesPerSecond: { upstream, webhooks, api } }) =>
        tb((upstream + webhooks + api) * perMonth),
      ),
      row('traffic inside a month, TB', ({ bytesPerSecond }) => tb(bytesPerSecond.internal * perMonth)),
      row('WAL for backups a month, TB', ({ bytesPerSecond }) => tb(bytesPerSecond.wal * perMonth)),
    ],
  );
}

/** What writers of matches do one at a time. */
export function turnSentence(): string {
  const { turnMs, turnMsPerMatch } = constants.turn;
  const inTransactionsOf = (matches: number) => (1_000 * matches) / (turnMs + matches * turnMsPerMatch);
  return (
    `${turnMs} ms for a transaction and ${turnMsPerMatch} ms for each match in it, which makes ${short(inTransactionsOf(100))} matches/s at ` +
    `most in transactions of 100 and ${short(inTransactionsOf(500))} in transactions of 500`
  );
}

/** What is full first in each stage. There are enough sources: the upstreams bring as much as is asked for. */
export function stagesTable(): string {
  return table(
    ['There is', 'Full first', 'at events/s'],
    stages.map(({ name, factor, capacity, nodes }) => {
      const workload = { ...grown(factor, { nodes, matchNodes: capacity.matchNodes }), sources: 10 * factor };
      const { what, events } = firstLimit(workload, capacity, constants);
      return [name, what, short(events)];
    }),
  );
}

/** Model / measured, of runs that no constant was taken from. */
export function checksTable(): string {
  const columns = checks.map(
    ({ curve: name, eventsPerSecond, matchesPerEvent }) =>
      `${name}: ${short(eventsPerSecond)} events/s, ${matchesPerEvent} matches each`,
  );
  const compared = checks.map(compare);
  const rows = (compared[0] ?? []).map(({ what }, line) => [
    what,
    ...compared.map((lines) => {
      const { real = Number.NaN, model = Number.NaN } = lines[line] ?? {};
      return `${pair(real, model)} (${(model / real).toFixed(2)})`;
    }),
  ]);
  return table(['measured / model (model by measured)', ...columns], rows);
}

/** Model / measured, of runs right after a burst. */
export function afterBurstTable(): string {
  return table(
    ['endpoints', 'node', 'PostgreSQL', 'NATS', 'WAL'],
    measured.afterBurst.map((point) => [
      whole(point.endpoints ?? 0),
      ...compare(point)
        .filter(({ what }) => curveColumns.includes(what))
        .map(({ real, model }) => (model / real).toFixed(2)),
    ]),
  );
}
