import type { ServerResponse } from 'node:http';
import type { ReceivedRequest } from '../answering-server.ts';

/** What the program of each language does. Programs get it as JSON. */
export type Step =
  | {
      readonly do: 'call';
      readonly operation: string;
      readonly request: object;
      readonly timeoutMs?: number;
      readonly idempotencyKey?: string;
    }
  | {
      readonly do: 'follow';
      readonly what: 'matches' | 'notices';
      readonly request: object;
      /** How many items each loop over the same follower takes. */
      readonly takes: readonly number[];
      readonly silenceMsMax?: number;
      readonly ignoresRemovals?: boolean;
    }
  | {
      readonly do: 'consume';
      readonly request: object;
      /** Leaves the loop after this many matches. */
      readonly take?: number;
    }
  | { readonly do: 'connect'; readonly url: string | null }
  | {
      readonly do: 'verify';
      readonly secret: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** Passes the parsed body, which is a mistake. */
      readonly isParsed?: boolean;
      readonly nowSeconds: number;
    };

export type Respond = (response: ServerResponse, request: ReceivedRequest) => void;

export interface Scenario {
  readonly name: string;
  /** Answers in order, then always the last one. A new list for each program, because answers may have state. */
  readonly answers: () => readonly Respond[];
  readonly steps: readonly Step[];
  /** What the program must report. */
  readonly observed: readonly unknown[];
  /** What the server must have received. */
  readonly received?: readonly object[];
  /** At least this long must pass between the first two requests. */
  readonly waitMs?: number;
}

export const repeat = <Value>(value: Value, times: number): Value[] =>
  Array.from({ length: times }, () => value);

/** The parts of a request that the scenarios compare. Generated keys are numbered in order of appearance. */
export function summarize(requests: readonly ReceivedRequest[]): object[] {
  const keys: string[] = [];
  const numbered = (key: string): string => {
    if (!/^[0-9a-f]{32}$/.test(key)) return key;
    if (!keys.includes(key)) keys.push(key);
    return `key ${keys.indexOf(key) + 1}`;
  };
  return requests.map(({ url, headers, body }) => {
    const { 'last-event-id': cursor, 'idempotency-key': key } = headers;
    return {
      url,
      ...(typeof cursor === 'string' && { cursor }),
      ...(typeof key === 'string' && { key: numbered(key) }),
      ...(body !== '' && { body: JSON.parse(body) }),
    };
  });
}
