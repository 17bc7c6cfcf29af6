import type { Earshot } from '@earshot/sdk';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../parts/button.tsx';
import type { FeedQuery } from './use-feed.ts';

/** Downloads the matches of the filter as CSV. */
export function ExportButton({ query }: { query: FeedQuery }) {
  const api = useApi();
  const [words, setWords] = useState('Export');
  const [isBusy, setBusy] = useState(false);
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    return () => abort.current.abort();
  }, []);
  const run = async () => {
    setBusy(true);
    try {
      const { signal } = abort.current;
      const onBytes = (bytes: number) => setWords(`Exporting ${(bytes / 1e6).toFixed(1)} MB`);
      offerFile(await download(api, query, { signal, onBytes }));
      setWords('Export');
    } catch (error) {
      setWords(`Export failed. ${error instanceof Error ? error.message : ''}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button isBusy={isBusy} onClick={() => void run()} title="Download these matches as CSV">
      <span aria-live="polite">{words}</span>
    </Button>
  );
}

/** The browser moves blobs to disk; separate pieces would stay in memory. */
const pieceBytes = 8_000_000;

async function download(
  api: Pick<Earshot, 'exportMatches'>,
  query: FeedQuery,
  { signal, onBytes }: { readonly signal: AbortSignal; readonly onBytes: (bytes: number) => void },
): Promise<Blob> {
  let file = new Blob([], { type: 'text/csv' });
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let waiting = 0;
  const move = () => {
    file = new Blob([file, ...pieces], { type: 'text/csv' });
    pieces = [];
    waiting = 0;
    onBytes(file.size);
  };
  for await (const chunk of await api.exportMatches({ ...query, format: 'csv' }, { signal })) {
    pieces.push(chunk);
    waiting += chunk.length;
    if (waiting > pieceBytes) move();
  }
  move();
  return file;
}

function offerFile(file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'matches.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
