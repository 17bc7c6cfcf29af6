import { text } from 'node:stream/consumers';
import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { type Exchange, Refusal, sendEmpty, sendJson } from '../http/exchange.ts';
import { readJsonObject } from '../http/json.ts';
import { admit } from './access.ts';
import type { ComplianceJob, XApp } from './app.ts';

/** Service time from the upload to the results. */
const workMs = 5_000;
/** Service time in which the ids have to be uploaded. */
const uploadWithinMs = 15 * 60_000;

/** POST /2/compliance/jobs */
export async function createJob(exchange: Exchange, { apps, clock, nextId }: Deps): Promise<void> {
  const app = admit(exchange, apps, 'compliance');
  const body = (await readJsonObject(exchange.request)) ?? {};
  const { type, name = null, resumable = false, ...unknown } = body;
  if (Object.keys(unknown).length > 0 || (type !== 'tweets' && type !== 'users') || resumable !== false)
    throw app.problems.invalidRequest('$.type: must be one of tweets, users; $.resumable: is not emulated.');
  if (name !== null && (typeof name !== 'string' || name.length > 64))
    throw app.problems.invalidRequest('$.name: must be at most 64 characters long.');
  const busy = [...app.complianceJobs.values()].some((job) =>
    ['created', 'in_progress'].includes(statusOf(job, clock)),
  );
  if (busy) throw app.problems.invalidRequest('There is a job of this type that is not complete.');
  const job: ComplianceJob = { id: nextId(clock.nowMs()), name, createdMs: clock.nowMs(), upload: null };
  app.complianceJobs.set(job.id, job);
  sendJson(exchange.response, 200, { data: toWire(exchange, job, clock) });
}

/** GET /2/compliance/jobs/{id} */
export function readJob(exchange: Exchange, { apps, clock }: Deps): void {
  const app = admit(exchange, apps, 'compliance');
  const job = app.complianceJobs.get(exchange.params['id'] ?? '');
  if (job === undefined)
    throw new Refusal(404, { title: 'Not Found Error', detail: 'There is no such job.' });
  sendJson(exchange.response, 200, { data: toWire(exchange, job, clock) });
}

/** PUT to the `upload_url`, which is the storage's and takes no credential of X. */
export async function uploadIds(exchange: Exchange, { apps, clock }: Deps): Promise<void> {
  const job = findJob(exchange, apps);
  if (statusOf(job, clock) !== 'created') throw new Refusal(410, { message: 'The URL has expired.' });
  const ids = (await text(exchange.request)).split(/\r?\n/).filter((line) => line !== '');
  if (!ids.every((id) => /^[0-9]{1,19}$/.test(id))) throw new Refusal(400, { message: 'One id per line.' });
  job.upload = { ids, atMs: clock.nowMs() };
  sendEmpty(exchange.response, 200);
}

/** GET of the `download_url`: a line of JSON for each post that is not what it was. */
export function downloadResults(exchange: Exchange, { apps, archive, clock }: Deps): void {
  const job = findJob(exchange, apps);
  if (statusOf(job, clock) !== 'complete') throw new Refusal(404, { message: 'There are no results yet.' });
  const at = new Date(clock.nowMs()).toISOString();
  const lines = (job.upload?.ids ?? []).flatMap((id) => {
    const reason = archive.takenDown(id);
    if (reason === undefined) return [];
    return [JSON.stringify({ id, action: 'delete', created_at: at, redacted_at: at, reason })];
  });
  exchange.response.writeHead(200, { 'content-type': 'text/plain' });
  exchange.response.end(lines.map((line) => `${line}\n`).join(''));
}

function findJob(exchange: Exchange, apps: Deps['apps']): ComplianceJob {
  // As Google's storage answers a signed URL that comes with a second credential.
  if (exchange.bearer !== undefined) throw new Refusal(400, { message: 'Only one credential is allowed.' });
  for (const app of apps.values()) {
    const job = app.complianceJobs.get(exchange.params['id'] ?? '');
    if (job) return job;
  }
  throw new Refusal(404, { message: 'There is no such object.' });
}

function statusOf({ upload, createdMs }: ComplianceJob, clock: Clock): string {
  const nowMs = clock.nowMs();
  if (upload === null) return nowMs > createdMs + clock.realMs(uploadWithinMs) ? 'expired' : 'created';
  return nowMs < upload.atMs + clock.realMs(workMs) ? 'in_progress' : 'complete';
}

function toWire({ request }: Exchange, job: ComplianceJob, clock: Clock): object {
  const storage = `http://${request.headers.host}/storage/compliance/${job.id}`;
  return {
    id: job.id,
    type: 'tweets',
    ...(job.name !== null && { name: job.name }),
    status: statusOf(job, clock),
    resumable: false,
    created_at: new Date(job.createdMs).toISOString(),
    upload_url: `${storage}/submission`,
    upload_expires_at: new Date(job.createdMs + clock.realMs(uploadWithinMs)).toISOString(),
    download_url: `${storage}/results`,
  };
}

export function countJobs({ complianceJobs }: XApp): number {
  return complianceJobs.size;
}
