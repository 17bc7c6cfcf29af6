import type { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Where a command writes, and whether somebody sits there. */
export interface Screen {
  /** A line of the result, to stdout. */
  readonly print: (text: string) => void;
  /** A line for people, to stderr. */
  readonly note: (text: string) => void;
  /** Colours for stdout; the text as it is where colours are not wanted. */
  readonly paint: (style: Style, text: string) => string;
  /** Somebody looks at stdout. */
  readonly isTerminal: boolean;
  /** Width of stdout. */
  readonly columns: number;
  /** Somebody can answer questions. */
  readonly isInteractive: boolean;
  /** A line that somebody types; `isSecret` shows nothing of it. */
  readonly ask: (question: string, isSecret?: boolean) => Promise<string>;
  /** Says on a terminal what is waited for when it takes longer than a second. */
  readonly waitFor: <Result>(words: string, work: Promise<Result>) => Promise<Result>;
}
