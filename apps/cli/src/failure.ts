/** The exit codes. docs/cli.md documents them, and scripts rely on them. */
export const exitCodes = {
  done: { code: 0, about: 'Done.' },
  failed: { code: 1, about: 'Failed for another reason.' },
  usage: {
    code: 2,
    about: 'The command line is wrong: an unknown command or option, a missing or invalid value.',
  },
  notFound: { code: 3, about: 'The resource does not exist, or belongs to another account.' },
  refused: { code: 4, about: 'The key or the plan does not allow it, or there is no valid key.' },
  invalid: {
    code: 5,
    about: 'The query or another value is invalid. The message shows the position and the fix.',
  },
  unavailable: { code: 6, about: 'Earshot is unreachable or overloaded. Try again later.' },
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

/** Checks the name, because the built file and the sources that it loads (`local/`) have different classes. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && error.name === 'Failure' && 'ending' in error;
}
