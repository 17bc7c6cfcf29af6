import type { ServerResponse } from 'node:http';
import { splitAtRandom, splitLineEnd } from './faults.ts';
import type { Random } from './random.ts';

/**
 * The write side of one open stream. Once closed it stays silent; `onClose` runs exactly once, whichever side
 * ended the connection. A stalled pipe keeps its socket but drops everything it is given.
 */
export interface StreamPipe {
  readonly write: (text: string, options?: { split?: Split | undefined; onFlushed?: () => void }) => void;
  /** Holds writes back until `uncork`, so that a batch leaves in few packets. */
  readonly cork: () => void;
  readonly uncork: () => void;
  readonly stall: () => void;
  readonly isStalled: () => boolean;
  readonly isClosed: () => boolean;
  /** Bytes accepted but not yet taken by the kernel. */
  readonly backlogBytes: () => number;
  readonly onDrain: (action: () => void) => void;
  /** Regular end: what was written is delivered first. */
  readonly end: () => void;
  /** Breaks the connection off. */
  readonly destroy: () => void;
  /** The same with a TCP reset. */
  readonly reset: () => void;
}

export type Split = 'anywhere' | 'line_end';

interface PipeOptions {
  readonly response: ServerResponse;
  readonly random: Random;
  readonly onClose: () => void;
}

export function createStreamPipe({ response, random, onClose }: PipeOptions): StreamPipe {
  let stalled = false;
  let closed = false;
  let ending = false;
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
    } else if (ending) response.end();
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
    write(text, { split, onFlushed } = {}) {
      if (closed || stalled) return;
      if (split !== undefined || pieces.length > 0) writeInPieces(text, split, onFlushed);
      else writeBytes(text, onFlushed);
    },
    cork: () => response.cork(),
    uncork: () => response.uncork(),
    stall: () => {
      stalled = true;
    },
    isStalled: () => stalled,
    isClosed: () => closed,
    backlogBytes: () => response.writableLength,
    onDrain: (action) => void response.on('drain', action),
    end: () => {
      ending = true;
      if (!closed && !stalled && pieces.length === 0) response.end();
    },
    destroy: () => response.destroy(),
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

function partsOf(bytes: Buffer, split: Split | undefined, random: Random): Buffer[] {
  if (split === undefined) return [bytes];
  return split === 'line_end' ? splitLineEnd(bytes) : splitAtRandom(bytes, random);
}
