import type { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** The input and output of a command. */
export interface Screen {
  /** A line of the result, to stdout. */
  readonly print: (text: string) => void;
  /** A line for people, to stderr. */
  readonly note: (text: string) => void;
  /** Colours a text for stdout, if colours are enabled. */
  readonly paint: (style: Style, text: string) => string;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  /** Width of stdout. */
  readonly columns: number;
  /** Whether the user can answer questions. */
  readonly isInteractive: boolean;
  /** Reads a line from the user. With `isSecret`, the terminal does not show it. */
  readonly ask: (question: string, isSecret?: boolean) => Promise<string>;
  /** Replaces the progress line on a terminal. */
  readonly progress: (text: string) => void;
  /** Shows progress on a terminal if the work takes longer than 1 s. */
  readonly waitFor: <Result>(words: string, work: Promise<Result>) => Promise<Result>;
}
