import { isJsonObject, type JsonObject } from './http/json.ts';

/**
 * One assumption about a platform that may be wrong. A knob holds until it is set again. A fault fires a number of times.
 */
interface Knob<Value> {
  readonly assumed: Value;
  /** The valid positions, for error messages. */
  readonly values: string;
  readonly read: (given: unknown) => Value | undefined;
}

type KnobTable = Readonly<Record<string, Knob<unknown>>>;
export type Positions<Table extends KnobTable> = { -readonly [Name in keyof Table]: Table[Name]['assumed'] };

/** The first position is the assumed one. */
export function choice<const Value extends string>(...values: readonly [Value, ...Value[]]): Knob<Value> {
  return {
    assumed: values[0],
    values: values.join(' or '),
    read: (given) => values.find((value) => value === given),
  };
}

export function amount(assumed: number): Knob<number> {
  return {
    assumed,
    values: 'a number from 0 on',
    read: (given) => (typeof given === 'number' && given >= 0 ? given : undefined),
  };
}

export function assumedPositions<Table extends KnobTable>(table: Table): Positions<Table> {
  const positions = Object.entries(table).map(([name, { assumed }]) => [name, assumed]);
  return Object.fromEntries(positions) as Positions<Table>;
}

/** Sets the knobs in the body. If one is wrong, sets none and returns the mistake. Null is the assumed position. */
export function turnKnobs<Table extends KnobTable>(
  table: Table,
  positions: Positions<Table>,
  body: unknown,
): string | undefined {
  if (!isJsonObject(body)) return 'The body is not a JSON object.';
  const turned: JsonObject = {};
  for (const [wireName, given] of Object.entries(body)) {
    const [name, knob] = Object.entries(table).find(([one]) => toWireName(one) === wireName) ?? [];
    if (name === undefined || knob === undefined)
      return `${wireName} is no knob. There are ${Object.keys(table).map(toWireName).join(', ')}.`;
    const value = given === null ? knob.assumed : knob.read(given);
    if (value === undefined) return `${wireName} is ${knob.values}.`;
    turned[name] = value;
  }
  Object.assign(positions, turned);
  return undefined;
}

export function knobsToWire(positions: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(positions).map(([name, value]) => [toWireName(name), value]));
}

export function toWireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
