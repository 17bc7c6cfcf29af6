import { type FaultScope, type Faults, numberParam } from './faults.ts';
import type { StreamPipe } from './stream-pipe.ts';

/** What a wire format makes of the faults that put something before a record. */
export interface WireOddities {
  /** A message of a kind that no client knows. */
  readonly unknown: string;
  /** A record whose content is no JSON. */
  readonly broken: string;
  /** The record made as large as told, or a large one before it. */
  enlarge(record: string, bytes: number): string;
}

interface RecordWriterOptions {
  readonly pipe: StreamPipe;
  readonly faults: Faults;
  readonly scope: FaultScope;
  readonly oddities: WireOddities;
}

/** Writes the records of one stream the way the armed faults say; without one, each as it is. */
export function createRecordWriter({ pipe, faults, scope, oddities }: RecordWriterOptions) {
  let late = '';
  let merged = '';
  let waiting: Array<() => void> = [];
  const isArmed = (kind: Parameters<Faults['take']>[0]) => faults.take(kind, scope) !== undefined;

  return (record: string, onFlushed: () => void = () => undefined): void => {
    waiting.push(onFlushed);
    let text = record;
    const big = faults.take('big_frame', scope);
    if (big !== undefined) text = oddities.enlarge(text, numberParam(big.params, 'bytes', 5 * 1024 * 1024));
    if (isArmed('duplicate_delivery')) text += record;
    if (isArmed('unknown_message')) text = oddities.unknown + text;
    if (isArmed('not_json')) text = oddities.broken + text;
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
    pipe.write(text, { split, onFlushed: () => flushed.forEach((tell) => tell()) });
  };
}
