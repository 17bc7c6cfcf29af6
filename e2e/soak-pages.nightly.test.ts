import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { withPrometheus } from './src/prometheus.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The exit code and output; the code is 1 if a critical alert was false. */
async function watchedSoak(...args: string[]): Promise<{ code: number; said: string }> {
  return await new Promise((resolve) => {
    const command = [path('./soak/main.ts'), '--watched', '--rate', '20', ...args];
    execFile(process.execPath, command, (error, stdout, stderr) => {
      console.info(stdout, stderr);
      resolve({ code: error ? 1 : 0, said: stdout });
    });
  });
}

async function alertsWith(dir: string, changes: ReadonlyArray<readonly [string, string]>): Promise<string> {
  let alerts = await readFile(path('../deploy/alerts.yaml'), 'utf8');
  for (const [before, after] of changes) {
    if (!alerts.includes(before)) throw new Error(`deploy/alerts.yaml has no ${before}`);
    alerts = alerts.replace(before, after);
  }
  const file = join(dir, 'alerts.yaml');
  await writeFile(file, alerts);
  return file;
}

/** The long run is `pnpm soak --watched --hours 1`. */
describe.concurrent('two servers under faults, with Prometheus and our alerts', withPrometheus(), () => {
  test('no critical alert is false', async () => {
    const { code, said } = await watchedSoak('--seconds', '30');
    expect(said).toMatch(/alerts: \d+ critical, 0 of them false/);
    expect(said).toMatch(/matches: [1-9]\d* seen/);
    expect(said).toMatch(/webhooks: [1-9]\d* seen/);
    expect(said).toMatch(/requests: [1-9]\d* seen/);
    expect(code).toBe(0);
  });

  test('control: an outage raises a critical alert, and an alert without an outage is reported as false', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'earshot-alerts-'));
    try {
      const alerts = await alertsWith(dir, [
        [
          'absent(earshot_matched_through_timestamp_seconds)\n        for: 1m',
          'absent(earshot_matched_through_timestamp_seconds)\n        for: 5s',
        ],
        [
          'max(earshot_event_log_bytes_max) > 0.7\n        for: 10m',
          'max(earshot_event_log_bytes_max) >= 0\n        for: 0s',
        ],
      ]);
      const { code, said } = await watchedSoak('--seconds', '1', '--outage', '--alerts', alerts);
      expect(said).toMatch(/page EarshotDown firing after \d+ s for \d+ s: true/);
      expect(said).toMatch(/page EventLogFillingUp firing after \d+ s for \d+ s: FALSE/);
      expect(code).toBe(1);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
