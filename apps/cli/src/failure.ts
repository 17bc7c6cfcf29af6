/** How the process ends. docs/cli.md has this table; scripts rely on it. */
export const exitCodes = {
  done: { code: 0, about: 'Done.' },
  failed: { code: 1, about: 'Failed for a reason that has no code of its own.' },
  usage: {
    code: 2,
    about: 'The command line is wrong: an unknown command or option, a missing or impossible value.',
  },
  notFound: { code: 3, about: 'The object does not exist, or belongs to another account.' },
  refused: { code: 4, about: 'The key or the plan does not allow it, or there is no valid key.' },
  invalid: {
    code: 5,
    about: 'The rule or another value is invalid: the message says where, and how to fix it.',
  },
  unavailable: { code: 6, about: 'Earshot cannot be reached or is too busy: try again later.' },
  interrupted: { code: 130, about: 'Ended by Ctrl+C (and 143 by SIGTERM, 129 by SIGHUP).' },
} as const;

export type Ending = keyof typeof exitCodes;

/** A failure that the user can understand and fix: printed without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly ending: Ending;

  constructor(ending: Ending, message: string, options?: ErrorOptions) {
    super(message, options);
    this.ending = ending;
  }
}

export const usageFailure = (message: string): Failure => new Failure('usage', message);

/** By its name: the built file and the sources that it loads (`local/`) have one class each. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && error.name === 'Failure' && 'ending' in error;
}
