import { type FaultKind, type FaultScope, type Faults, numberParam } from '../faults.ts';

/** How a protocol version carries the faults that change a frame or add one before it. */
export interface FrameFaults {
  readonly unknownMessage: string;
  /** A frame that is not valid JSON. */
  readonly brokenFrame: string;
  enlarge(frame: string, bytes: number): string;
}

interface FrameWriterOptions {
  readonly faults: Faults;
  readonly frameFaults: FrameFaults;
  /** Sends the frames in one write, or as fragments cut at random. */
  readonly send: (frames: readonly Buffer[], how: 'whole' | 'fragments') => void;
}

/** Bluesky has no tokens, so a fault that names one does not apply. */
export const blueskyScope: FaultScope = { platform: 'bluesky', token: '' };

/** Writes the frames of one connection with the armed faults applied. */
export function createFrameWriter({ faults, frameFaults, send }: FrameWriterOptions) {
  let late: Buffer[] = [];
  let merged: Buffer[] = [];
  const isArmed = (kind: FaultKind) => faults.take(kind, blueskyScope) !== undefined;

  return (frame: Buffer): void => {
    const big = faults.take('big_frame', blueskyScope);
    let frames = [big === undefined ? frame : enlarge(frame, numberParam(big.params, 'bytes', bigBytes))];
    if (isArmed('duplicate_delivery')) frames.push(frame);
    if (isArmed('unknown_message')) frames.unshift(Buffer.from(frameFaults.unknownMessage));
    if (isArmed('not_json')) frames.unshift(Buffer.from(frameFaults.brokenFrame));
    if (late.length === 0 && isArmed('out_of_order')) {
      late = frames;
      return;
    }
    frames = [...merged, ...frames, ...late];
    late = [];
    merged = [];
    if (isArmed('merge_chunks')) {
      merged = frames;
      return;
    }
    send(frames, isArmed('split_chunks') ? 'fragments' : 'whole');
  };

  function enlarge(frame: Buffer, bytes: number): Buffer {
    return Buffer.from(frameFaults.enlarge(frame.toString(), bytes));
  }
}

const bigBytes = 5 * 1024 * 1024;
