export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What `earshot <name> --help` prints. */
  usage: string;
  /** Returns the exit code. Results go to stdout, progress and errors to stderr. */
  run(args: string[]): Promise<number>;
}
