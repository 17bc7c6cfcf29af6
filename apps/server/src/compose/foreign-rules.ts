import { readConfig } from '../config/config.ts';
import { openDatabase } from '../engines/database.ts';
import { readInstallation } from '../engines/installation.ts';
import { unusedForeign } from '../slots/reconcile.ts';
import { removeInBatches } from '../slots/registrar-steps.ts';
import type { LocalRules } from '../upstream/local-rules.ts';
import { platforms } from '../upstream/platforms.ts';

/** An upstream rule that is not Earshot's. What it matches may be billed, and is not stored. */
export interface ForeignRule {
  readonly source_id: string;
  readonly upstream_rule_id: string;
  readonly value: string;
  readonly tag: string | null;
}

/** Lists the foreign rules on every configured source, and with `remove` deletes them there. Sends requests to the upstreams. */
export async function listForeignRules(
  environment: Readonly<Record<string, string | undefined>>,
  { remove }: { readonly remove: boolean },
): Promise<ForeignRule[]> {
  const config = readConfig(environment);
  await using stack = new AsyncDisposableStack();
  const database = stack.use(
    openDatabase({ url: config.databaseUrl, connectionsMax: 1, onIdleError: () => undefined }),
  );
  const { id: installation } = await readInstallation(database);
  const rows = await database.many<{ id: string }>('select upstream_rule_id as id from slots');
  const used = new Set(rows.map(({ id }) => id));
  const sources = Object.values(platforms).flatMap((platform) => platform.openSources(config, stack, none));
  const found: ForeignRule[] = [];
  for (const source of sources) {
    const listed = await source.rules.list(operatorsCall);
    const foreign = unusedForeign(installation, listed, used);
    const ids = foreign.map(({ id }) => id);
    if (remove) await removeInBatches(source.rules, ids, operatorsCall);
    found.push(
      ...foreign.map(({ id, value, tag }) => ({ source_id: source.id, upstream_rule_id: id, value, tag })),
    );
  }
  return found;
}

/** Rules of Earshot's own matching are never foreign. */
const none: LocalRules = { list: async () => [], async *changes() {} };

/** The operator waits for it and it is rare, so it does not count for the registrar's budget of calls. */
const operatorsCall = { signal: new AbortController().signal, permit: () => Promise.resolve() };
