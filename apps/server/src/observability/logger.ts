import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Fields that hold a secret whatever it looks like, for example an upstream's token. */
const secretFields = ['authorization', 'token', 'key', 'secret'];
/**
 * What is a secret by its form, wherever it is in the line: in a message, in an error of a library, deep in an object. A key
 * that is shown by its beginning and end alone is shorter. The written line has no word boundaries: "\n" is two characters.
 */
const secretTexts = /(Bearer )[^\s"\\,]+|(esk_|whsec_)[\w+/=-]{8,}/g;

/** For lines that cannot be written yet; further ones are dropped. */
const unwrittenBytesMax = 4 * 1024 * 1024;

/**
 * The node outlives a stdout that cannot be written to, such as a file on a full disk. Unwritten lines follow once it
 * can. The library retries them at exit without an end, so there they are lost.
 */
function openStdout(): DestinationStream {
  const stdout = pino.destination({ dest: 1, maxLength: unwrittenBytesMax });
  const [flush, flushSync] = [stdout.flush.bind(stdout), stdout.flushSync.bind(stdout)];
  stdout.on('error', () => Object.assign(stdout, { flush: () => undefined, flushSync: () => undefined }));
  stdout.on('write', () => Object.assign(stdout, { flush, flushSync }));
  return stdout;
}

/** JSON lines on stdout. Secrets never reach a log call; the redaction is the second line of defence. */
export function createLogger(
  { level }: { level: string },
  destination: DestinationStream = openStdout(),
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
