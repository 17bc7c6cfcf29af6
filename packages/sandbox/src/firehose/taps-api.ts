import { randomBytes } from 'node:crypto';
import type { Deps } from '../deps.ts';
import { type Exchange, sendEmpty, sendJson } from '../http/exchange.ts';
import { readJsonObject } from '../http/json.ts';
import { authenticateManager } from './access.ts';
import type { Organization } from './organization.ts';
import { invalid, notFound } from './problems.ts';
import { createTap, type Tap } from './tap.ts';

/** GET /v1/taps (firehose.md §3). */
export function listTaps(exchange: Exchange, { organization }: Deps): void {
  authenticateManager(exchange, organization);
  sendJson(exchange.response, 200, { data: Array.from(organization.taps.values(), toWire) });
}

export function readTap(exchange: Exchange, { organization }: Deps): void {
  authenticateManager(exchange, organization);
  sendJson(exchange.response, 200, { data: toWire(findTap(exchange, organization)) });
}

/** POST /v1/taps: the full token is beside `data`, not in it. */
export async function addTap(exchange: Exchange, { organization, clock, rateLimits }: Deps): Promise<void> {
  authenticateManager(exchange, organization);
  const name = readName((await readJsonObject(exchange.request))?.['name']);
  const token = `fh_${randomBytes(20).toString('hex')}`;
  const tap = createTap({ token, name, clock, rateLimits });
  organization.taps.set(tap.id, tap);
  const { id, token_prefix, created_at } = toWire(tap);
  sendJson(exchange.response, 201, { data: { id, name, token_prefix, created_at }, token });
}

/** PUT /v1/taps/:id renames, pauses or resumes. */
export async function changeTap(exchange: Exchange, { organization }: Deps): Promise<void> {
  authenticateManager(exchange, organization);
  const tap = findTap(exchange, organization);
  const { name, status } = (await readJsonObject(exchange.request)) ?? {};
  if (status !== undefined && status !== 'active' && status !== 'paused') {
    throw invalid('status', ['The status is active or paused.']);
  }
  if (name !== undefined) tap.name = readName(name);
  if (status !== undefined) tap.status = status;
  // Continues a replay that was paused.
  for (const connection of tap.connections) connection.pump();
  sendJson(exchange.response, 200, { data: toWire(tap) });
}

/** DELETE /v1/taps/:id: open streams are cut. */
export function removeTap(exchange: Exchange, { organization }: Deps): void {
  authenticateManager(exchange, organization);
  const tap = findTap(exchange, organization);
  organization.taps.delete(tap.id);
  for (const connection of tap.connections) connection.pipe.destroy();
  sendEmpty(exchange.response, 204);
}

function findTap({ params }: Exchange, { taps }: Organization): Tap {
  const tap = taps.get(params['id'] ?? '');
  if (tap === undefined) throw notFound('Tap');
  return tap;
}

function readName(name: unknown): string {
  if (typeof name !== 'string' || name.trim() === '') throw invalid('name', ['The name field is required.']);
  return name;
}

function toWire(tap: Tap) {
  return {
    id: tap.id,
    name: tap.name,
    token: tap.token,
    token_prefix: tap.token.slice(0, 6),
    status: tap.status,
    rules_count: tap.rules.size,
    last_used_at: tap.lastUsedAt,
    created_at: tap.createdAt,
  };
}
