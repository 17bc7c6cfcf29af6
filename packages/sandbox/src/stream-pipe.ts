import type { ServerResponse } from 'node:http';
import { splitAtRandom, splitLineEnd } from './faults.ts';
import type { Random } from './random.ts';

export type StreamPipe = ReturnType<typeof createStreamPipe>;

interface WriteOptions {
  readonly split?: Split | undefined;
  readonly onFlushed?: () => void;
}

type Split = 'anywhere' | 'line_end';

interface PipeOptions {
  readonly response: ServerResponse;
  readonly random: Random;
  readonly onClose: () => void;
}

/**
 * The write side of one open stream. Writes after its end are ignored; `onClose` runs exactly once, whichever side
 * closed the connection. A stalled pipe keeps its socket open and discards everything that is written to it.
 */
export function createStreamPipe({ response, random, onClose }: PipeOptions) {
  let stalled = false;
  let muted = false;
  let closed = false;
  let ended = false;
  const pieces: Array<{ bytes: Buffer; onFlushed: (() => void) | undefined }> = [];

  response.once('close', () => {
    closed = true;
    pieces.length = 0;
    onClose();
  });
  response.on('error', () => response.destroy());

  const writeBytes = (bytes: string | Buffer, onFlushed: (() => void) | undefined) => {
    response.write(bytes, (error) => {
      if (!error) onFlushed?.();
    });
  };

  // One piece per turn of the event loop; otherwise the kernel would join them again.
  const writePieces = () => {
    if (closed || stalled) return;
    const piece = pieces.shift();
    if (piece !== undefined) {
      writeBytes(piece.bytes, piece.onFlushed);
      setImmediate(writePieces);
    } else if (ended) response.end();
  };

  const writeInPieces = (text: string, split: Split | undefined, onFlushed: (() => void) | undefined) => {
    const isIdle = pieces.length === 0;
    const parts = partsOf(Buffer.from(text), split, random);
    for (const [index, part] of parts.entries()) {
      pieces.push({ bytes: part, onFlushed: index === parts.length - 1 ? onFlushed : undefined });
    }
    if (isIdle) setImmediate(writePieces);
  };

  return {
    write(text: string, { split, onFlushed }: WriteOptions = {}): void {
      if (closed || ended || stalled) return;
      if (split !== undefined || pieces.length > 0) writeInPieces(text, split, onFlushed);
      else writeBytes(text, onFlushed);
    },
    /** Holds writes back until `uncork`, so that a batch leaves in few packets. */
    cork: () => response.cork(),
    uncork: () => response.uncork(),
    stall: () => {
      stalled = true;
    },
    isStalled: () => stalled,
    /** Stops records; keep-alives continue. */
    mute: () => {
      muted = true;
    },
    /** False once the pipe is ended, closed, stalled or muted. */
    takesRecords: () => !closed && !ended && !stalled && !muted,
    /** Bytes accepted but not yet taken by the kernel. */
    backlogBytes: () => response.writableLength,
    onDrain: (action: () => void) => void response.on('drain', action),
    /** Closes after everything that was written has been sent. */
    end: () => {
      ended = true;
      if (!closed && !stalled && pieces.length === 0) response.end();
    },
    /** Closes at once; what was not sent is lost. */
    destroy: () => void response.destroy(),
    /** Closes at once with a TCP reset. */
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

function partsOf(bytes: Buffer, split: Split | undefined, random: Random): Buffer[] {
  if (split === undefined) return [bytes];
  return split === 'line_end' ? splitLineEnd(bytes) : splitAtRandom(bytes, random);
}
