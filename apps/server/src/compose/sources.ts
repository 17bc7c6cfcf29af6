import type { Platform } from '@earshot/contract';
import type { Config } from '../config.ts';
import type { Protocol } from '../ingest/connector.ts';
import { createSourceStore } from '../ingest/source-store.sql.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { firehoseProtocol } from '../upstream/firehose/protocol.ts';
import { createFirehoseRules } from '../upstream/firehose/rules.ts';
import { createFirehoseStream } from '../upstream/firehose/stream.ts';
import type { PostSearch, Recovery } from '../upstream/post-search.ts';
import type { UpstreamRules } from '../upstream/upstream-rules.ts';
import type { UpstreamStream } from '../upstream/upstream-stream.ts';
import { createFreeSlot } from '../upstream/x/connections.ts';
import { xProtocol } from '../upstream/x/protocol.ts';
import { createXRecovery } from '../upstream/x/recovery.ts';
import { createXRules } from '../upstream/x/rules.ts';
import { createXSearch } from '../upstream/x/search.ts';
import { createXStream } from '../upstream/x/stream.ts';
import type { Shared } from './shared.ts';

export interface Source {
  readonly id: string;
  readonly platform: Platform;
  readonly capacity: number;
  readonly rules: UpstreamRules;
  readonly stream: UpstreamStream;
  readonly protocol: Protocol;
  readonly freeSlot: ((signal: AbortSignal) => Promise<number>) | null;
  /** What fills the gaps of a stream that does not resume by itself; null where it does. */
  readonly repair: { readonly search: PostSearch; readonly recovery: Recovery } | null;
}

/** The configured credentials, each with its clients, made known to all nodes. */
export async function openSources(shared: Shared, stack: AsyncDisposableStack): Promise<Source[]> {
  const sources = [...xSources(shared.config, stack), ...firehoseSources(shared.config, stack)];
  const { drainSources } = shared.config;
  const unknown = drainSources.filter((id) => !sources.some((source) => source.id === id));
  if (unknown.length > 0) shared.log.warn({ unknown }, 'sources to drain that this node does not have');
  await createSourceStore(shared.database).announce(
    sources.map((source) => ({ ...source, draining: drainSources.includes(source.id) })),
  );
  return sources;
}

function xSources(config: Config, stack: AsyncDisposableStack): Source[] {
  return config.xTokens.map(({ name, token }) => {
    const client = stack.use(createUpstreamClient({ baseUrl: config.xBaseUrl, token, name: 'X' }));
    return {
      id: `x:${name}`,
      platform: 'x',
      capacity: config.xRuleCapacity,
      rules: createXRules(client, { pace: config.upstreamPace }),
      stream: createXStream(client),
      protocol: atPace(xProtocol, config),
      freeSlot: createFreeSlot(client),
      repair: { search: createXSearch(client), recovery: createXRecovery(client) },
    };
  });
}

function firehoseSources(config: Config, stack: AsyncDisposableStack): Source[] {
  return config.firehoseTokens.map(({ name, token }) => {
    const client = stack.use(
      createUpstreamClient({ baseUrl: config.firehoseBaseUrl, token, name: 'Firehose' }),
    );
    return {
      id: `firehose:${name}`,
      platform: 'firehose',
      capacity: config.firehoseRuleCapacity,
      rules: createFirehoseRules(client, { pace: config.upstreamPace }),
      stream: createFirehoseStream(client),
      protocol: atPace(firehoseProtocol, config),
      freeSlot: null,
      repair: null,
    };
  });
}

function atPace(protocol: Protocol, { upstreamPace }: Config): Protocol {
  const { connects } = protocol;
  return { ...protocol, connects: { ...connects, windowMs: connects.windowMs / upstreamPace } };
}
