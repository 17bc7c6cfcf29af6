/**
 * A worker is a name and a blocking `run`. It returns only when the signal is aborted; returning or throwing
 * earlier is a failure, which the supervisor reports and answers with a restart.
 */
export interface Worker {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}
