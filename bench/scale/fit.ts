import { measured, type Point, rulesOf } from './measured.ts';

/** One equation: these amounts, each times its constant, are together `result`. */
interface Equation<Name extends string> {
  readonly amounts: Readonly<Partial<Record<Name, number>>>;
  readonly result: number;
}

/** The constants, none of them negative, that come closest to all equations, each of them weighed by its result. */
function fit<Name extends string>(
  names: readonly Name[],
  equations: readonly Equation<Name>[],
): Record<Name, number> {
  const found = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  const amount = (name: Name, { amounts, result }: Equation<Name>) => (amounts[name] ?? 0) / result;
  for (let round = 0; round < 20_000; round++) {
    for (const name of names) {
      let [along, length] = [0, 0];
      for (const equation of equations) {
        const others = names.reduce(
          (sum, other) => (other === name ? sum : sum + found[other] * amount(other, equation)),
          0,
        );
        along += amount(name, equation) * (1 - others);
        length += amount(name, equation) ** 2;
      }
      found[name] = length === 0 ? 0 : Math.max(0, along / length);
    }
  }
  return found;
}

type Amount =
  | 'events'
  | 'matches'
  | 'messages'
  | 'transactions'
  | 'ruleRows'
  | 'webhookMessages'
  | 'webhookMatches';

const amountsOf = (point: Point): Record<Amount, number> => ({
  events: point.eventsPerSecond,
  matches: point.matchesPerSecond,
  messages: point.messagesPerSecond,
  transactions: point.transactionsPerSecond,
  ruleRows: Math.min(point.matchesPerSecond, point.transactionsPerSecond * rulesOf(point)),
  webhookMessages: point.webhookMessagesPerSecond,
  webhookMatches: point.webhookMatchesPerSecond,
});

function fitPoints(points: readonly Point[], names: readonly Amount[], result: (point: Point) => number) {
  const equations = points.map((point) => ({ amounts: amountsOf(point), result: result(point) }));
  return fit(
    names,
    equations.filter((equation) => equation.result > 0),
  );
}

/** Messages are synced together from some 60 a second on; what one costs then, a plain client has shown at 2,600 a second. */
const natsShared = { messages: 60, usPerMessage: 100 };
const fitNats = (points: readonly Point[]) =>
  fit(
    ['idle', 'events', 'alone'],
    points.map(({ cpu, eventsPerSecond, messagesPerSecond }) => ({
      amounts: {
        idle: 1,
        events: eventsPerSecond,
        alone: messagesPerSecond / (1 + messagesPerSecond / natsShared.messages),
      },
      result: (cpu['nats'] ?? 0) - (messagesPerSecond * natsShared.usPerMessage) / 1e6,
    })),
  );

/** Prints what `constants.json` has, from what `measured.json` has: cores for one a second of each, bytes likewise. */
/** What a node takes while nothing happens: `measured.idle`. */
const idle = { node: 0.028, postgres: 0.017 };
const fitted = measured.points.filter(({ isCheck }) => !isCheck);
const loaded = fitted.filter(({ eventsPerSecond }) => eventsPerSecond > 0);
const packing = loaded.filter(({ curve, eventsPerSecond }) => curve !== 'endpoints' && eventsPerSecond > 90);
const results = {
  node: fitPoints(
    loaded,
    ['events', 'matches', 'messages', 'transactions', 'webhookMessages', 'webhookMatches'],
    (point) => (point.cpu['server'] ?? 0) - idle.node,
  ),
  postgres: fitPoints(
    loaded,
    ['events', 'matches', 'messages', 'transactions', 'ruleRows', 'webhookMessages'],
    (point) => (point.cpu['postgres'] ?? 0) - idle.postgres,
  ),
  nats: fitNats(fitted),
  wal: fitPoints(
    loaded,
    ['events', 'matches', 'transactions', 'ruleRows', 'webhookMessages'],
    ({ bytes }) => bytes.wal,
  ),
  log: fitPoints(loaded, ['events'], ({ bytes }) => bytes.log),
  // Both at the rates at which events come together: how long a message and a transaction are under way.
  messages: fit(
    ['ms'],
    packing.map(({ eventsPerSecond, messagesPerSecond }) => ({
      amounts: { ms: eventsPerSecond / 2_000 },
      result: eventsPerSecond / messagesPerSecond,
    })),
  ),
  transactions: fit(
    ['ms', 'msPerEvent'],
    packing.map(({ eventsPerSecond, transactionsPerSecond }) => ({
      amounts: { ms: transactionsPerSecond / 1_000, msPerEvent: eventsPerSecond / 1_000 },
      result: 1,
    })),
  ),
};
process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
