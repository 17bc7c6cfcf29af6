import { once } from 'node:events';
import { command } from '../command.ts';
import { downloadText, retryWhenCut } from '../export/download.ts';
import { exportParquet, exportText } from '../export/export-file.ts';
import type { ExportState } from '../export/export-state.ts';
import { usageFailure } from '../failure.ts';
import {
  flag,
  integer,
  oneOf,
  platformFilter,
  relevanceFilter,
  required,
  ruleFilter,
  text,
  time,
} from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { shortTime } from '../output/times.ts';

const partDefault = 100_000;
const progressMs = 200;

export const exportMatches = command({
  name: 'export',
  summary: 'write stored matches to a file, oldest first',
  details:
    'Continues a download that is cut. If it is interrupted, the same command continues it. Parquet is written as a folder of files. In CSV, a text that a spreadsheet would run as a formula begins with a single quote.',
  options: {
    format: oneOf(['ndjson', 'csv', 'parquet'], 'format of the file (default ndjson)'),
    out: required(text('<file>', 'the file, the folder for Parquet, or - for stdout')),
    rule: ruleFilter,
    platform: platformFilter,
    from: time('only matches from this time on', 'past'),
    to: time('only matches before this time', 'past'),
    relevance: relevanceFilter,
    hidden: oneOf(
      ['exclude', 'include', 'only'],
      'matches that a mute or --relevance hides: leave them out, export them too, or export only them (default exclude)',
    ),
    part: integer('<n>', `matches in each Parquet file (default ${partDefault})`, { min: 1, max: 1_000_000 }),
    force: flag('replace the file if it exists'),
  },
  aboutJson: 'at the end, one line of JSON: {"matches":…,"files":…,"bytes":…}',
  examples: [
    'earshot matches export --out matches.ndjson',
    'earshot matches export --format csv --from 2026-11-01 --to 2026-12-01 --out november.csv',
    'earshot matches export --format parquet --out matches',
  ],
  async run({ options }, { connect, isJson, screen }) {
    const { format = 'ndjson', out, rule, part: limit = partDefault, force, ...rest } = options;
    if (format === 'parquet' && out === '-')
      throw usageFailure('Parquet is a folder of files and cannot be written to stdout. Choose a name.');
    const stop = listenForStop();
    const earshot = await connect();
    const request = { format, rule_id: rule, ...rest };
    const onProgress = createProgress(screen.progress);
    const download = { earshot, signal: stop.signal, note: screen.note };
    try {
      const toFile = { ...download, out, force, onProgress };
      const state =
        format === 'parquet'
          ? await exportParquet({ ...toFile, limit }, request)
          : out === '-'
            ? await exportToStdout(download, request, format)
            : await exportText(toFile, request, format);
      const { rows, parts, bytes } = state;
      if (isJson && out !== '-')
        screen.print(jsonLine({ matches: parts > 0 ? null : rows, files: parts || 1, bytes }));
      else screen.note(parts > 0 ? `Exported ${parts} files to ${out}.` : `Exported ${rows} matches.`);
      return 0;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      if (out !== '-' && stop.signal.reason !== 'SIGPIPE')
        screen.note('Stopped. The same command continues the export.');
      return exitCodeOfStop(stop.signal);
    }
  },
});

async function exportToStdout(
  download: Parameters<typeof downloadText>[0],
  request: ExportState['request'],
  format: 'ndjson' | 'csv',
): Promise<ExportState> {
  const state: ExportState = { request, bytes: 0, parts: 0, rows: 0 };
  const sink = {
    write: async (bytes: Uint8Array) => {
      if (!process.stdout.write(bytes)) await once(process.stdout, 'drain', { signal: download.signal });
    },
    onRows: async () => undefined,
  };
  await retryWhenCut(download, state, () => downloadText(download, state, format, sink));
  return state;
}

/** Count, rate and time of the last row. */
function createProgress(show: (text: string) => void) {
  const startedAt = performance.now();
  let shownAt = 0;
  let first: number | undefined;
  return ({ rows, parts, bytes }: ExportState, lastCreatedAt: string | null) => {
    first ??= rows;
    const now = performance.now();
    if (now - shownAt < progressMs) return;
    shownAt = now;
    const megabytes = `${(bytes / 1e6).toFixed(1)} MB`;
    const rate = Math.round((rows - first) / ((now - startedAt) / 1_000));
    show(
      lastCreatedAt === null
        ? `${parts} files, ${megabytes}`
        : `${rows} matches, ${megabytes}, ${rate}/s, up to ${shortTime(lastCreatedAt)}`,
    );
  };
}
