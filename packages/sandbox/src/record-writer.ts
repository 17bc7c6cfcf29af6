import { type FaultKind, type FaultScope, type Faults, numberParam } from './faults.ts';
import type { StreamPipe } from './stream-pipe.ts';

/** How a wire format carries the faults that change a record or add one before it. */
export interface RecordFaults {
  readonly unknownMessage: string;
  /** A record that is not valid JSON. */
  readonly brokenRecord: string;
  /** The record with that many bytes more, or a large one before it. */
  enlarge(record: string, bytes: number): string;
}

interface RecordWriterOptions {
  readonly pipe: StreamPipe;
  readonly faults: Faults;
  readonly scope: FaultScope;
  readonly recordFaults: RecordFaults;
}

/** Writes the records of one stream with the armed faults applied. */
export function createRecordWriter({ pipe, faults, scope, recordFaults }: RecordWriterOptions) {
  let late = '';
  let merged = '';
  let waiting: Array<() => void> = [];
  const isArmed = (kind: FaultKind) => faults.take(kind, scope) !== undefined;

  return (record: string, onFlushed: () => void = () => undefined): void => {
    waiting.push(onFlushed);
    let text = record;
    const big = faults.take('big_frame', scope);
    if (big !== undefined)
      text = recordFaults.enlarge(text, numberParam(big.params, 'bytes', 5 * 1024 * 1024));
    if (isArmed('duplicate_delivery')) text += record;
    if (isArmed('unknown_message')) text = recordFaults.unknownMessage + text;
    if (isArmed('not_json')) text = recordFaults.brokenRecord + text;
    if (late === '' && isArmed('out_of_order')) {
      late = text;
      return;
    }
    text = merged + text + late;
    late = '';
    merged = '';
    if (isArmed('merge_chunks')) {
      merged = text;
      return;
    }
    const flushed = waiting;
    waiting = [];
    const split = isArmed('split_chunks') ? 'anywhere' : isArmed('split_line_end') ? 'line_end' : undefined;
    pipe.write(text, { split, onFlushed: () => flushed.forEach((confirm) => confirm()) });
  };
}
