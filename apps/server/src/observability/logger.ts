import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** JSON lines on stdout. Secrets never reach a log call; the redaction is the second line of defence. */
export function createLogger(
  { level, node }: { level: string; node: string },
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level,
    base: { node },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['authorization', '*.authorization', 'token', '*.token', 'key', '*.key'] },
  };
  return pino(options, destination);
}
