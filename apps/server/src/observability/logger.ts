import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Fields that hold a secret whatever it looks like, for example an upstream's token. */
const secretFields = ['authorization', 'token', 'key', 'secret'];
/**
 * What is a secret by its form, wherever it is in the line: in a message, in an error of a library, deep in an object. A key
 * that is shown by its beginning and end alone is shorter. The written line has no word boundaries: "\n" is two characters.
 */
const secretTexts = /(Bearer )[^\s"\\,]+|(esk_|whsec_)[\w+/=-]{8,}/g;

/** JSON lines on stdout. Secrets never reach a log call; the redaction is the second line of defence. */
export function createLogger(
  { level }: { level: string },
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]) },
    hooks: { streamWrite: (line: string) => line.replace(secretTexts, '$1$2[Redacted]') },
  };
  return pino(options, destination);
}
