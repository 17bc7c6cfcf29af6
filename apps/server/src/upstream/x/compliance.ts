import type { Removal } from '@earshot/contract';
import { z } from 'zod';
import { pause } from '../../runtime/worker.ts';
import type { UpstreamClient } from '../client.ts';
import type { Compliance } from '../platform.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { problemOf, wordsAfterColon } from './ending.ts';

/** A result line has up to 200 bytes, and all lines are held in memory. */
const idsMax = 50_000;
const pollIntervalMs = 30_000;
/** X documents "minutes to hours" for a job. */
const givenUpAfterMs = 6 * 3_600_000;

const jobSchema = z.object({
  data: z.looseObject({
    id: z.string().regex(/^[0-9]{1,19}$/),
    status: z.string(),
    upload_url: z.string().optional(),
    download_url: z.string().optional(),
  }),
});
type Job = z.output<typeof jobSchema>['data'];

const resultSchema = z.looseObject({
  id: z.string(),
  action: z.string().optional(),
  reason: z.string().optional(),
});

/** X's batch compliance: create a job, upload the ids, wait, download the results. */
export function createXCompliance(client: UpstreamClient, { pace }: { pace: number }): Compliance {
  const request = async (method: 'GET' | 'POST', path: string, signal: AbortSignal): Promise<Job> => {
    const body = method === 'POST' ? { type: 'tweets' } : undefined;
    const answer = await client.call(method, path, { body, signal });
    const job = jobSchema.safeParse(answer.body);
    if (answer.status < 300 && job.success) return job.data.data;
    const words = wordsAfterColon(problemOf(answer.body));
    throw new UpstreamUnavailable(`X answered ${answer.status} to a compliance job${words}`, {
      retryAfterMs: answer.retryAfterMs,
    });
  };
  const transfer = async (url: string | undefined, text: string | null, signal: AbortSignal) => {
    const { status, text: got } = await client.transfer(url ?? '', { text, signal });
    if (status < 300) return got;
    throw new UpstreamUnavailable(`the storage of X's compliance jobs answered ${status}`);
  };
  return {
    idsMax,
    async check(ids, signal) {
      let job = await request('POST', '/2/compliance/jobs', signal);
      await transfer(job.upload_url, ids.map((id) => `${id}\n`).join(''), signal);
      const deadline = performance.now() + givenUpAfterMs / pace;
      while (job.status === 'created' || job.status === 'in_progress') {
        await pause(pollIntervalMs / pace, signal);
        signal.throwIfAborted();
        if (performance.now() > deadline)
          throw new UpstreamUnavailable('a compliance job of X did not end in time');
        job = await request('GET', `/2/compliance/jobs/${job.id}`, signal);
      }
      if (job.status !== 'complete')
        throw new UpstreamUnavailable(`a compliance job of X ended as ${job.status.slice(0, 40)}`);
      return readResults(await transfer(job.download_url, null, signal));
    },
  };
}

/** The results have one line per post that must be deleted. */
function readResults(text: string): Array<{ id: string; reason: Removal['reason'] }> {
  return text.split('\n').flatMap((line) => {
    const result = line.trim() === '' ? null : resultSchema.safeParse(parse(line));
    if (!result?.success || result.data.action !== 'delete') return [];
    return [{ id: result.data.id, reason: reasonOf(result.data.reason ?? '') }];
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** For any other reason (`bounced`, `deactivated`, `scrub_geo`), X requires the post to be deleted. */
function reasonOf(reason: string): Removal['reason'] {
  if (reason === 'protected' || reason === 'suspended') return reason;
  return reason.startsWith('withheld') ? 'withheld' : 'deleted';
}
