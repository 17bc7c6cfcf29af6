import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Fields that hold a secret of any form, for example an upstream token. */
const secretFields = ['authorization', 'token', 'key', 'secret'];
/**
 * Secrets that are recognisable by their form, anywhere in the line: in messages, library errors or nested objects. A
 * masked key is shorter. The written line has no word boundaries: "
 * " is two characters.
 */
const secretTexts = /(Bearer )[^\s"\\,]+|(esk_|esf_|whsec_)[\w+/=-]{8,}/g;

/** Buffer for unwritten lines; further lines are dropped. */
const unwrittenBytesMax = 4 * 1024 * 1024;

/**
 * The node survives a stdout that cannot be written to, such as a file on a full disk, and writes buffered lines
 * later. At exit the library would retry forever, so there they are dropped.
 */
function openStdout(): DestinationStream {
  const stdout = pino.destination({ dest: 1, maxLength: unwrittenBytesMax });
  const [flush, flushSync] = [stdout.flush.bind(stdout), stdout.flushSync.bind(stdout)];
  stdout.on('error', () => Object.assign(stdout, { flush: () => undefined, flushSync: () => undefined }));
  stdout.on('write', () => Object.assign(stdout, { flush, flushSync }));
  return stdout;
}

/** Writes JSON lines to stdout. Secrets never reach a log call; the redaction is a second line of defence. */
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
