import { unhidden } from '@earshot/mcp/visible';
import type { Answers, Earshot, Rule } from '@earshot/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { useHasScope } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './editor.module.css';
import { proofFacts } from './proof-words.ts';

/** How well the matches of the rule fit its intent, which matches to label, and its mutes. */
export function RuleRelevance({ rule }: { rule: Rule }) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['relevance', rule.id, rule.version],
    queryFn: ({ signal }) => api.getRelevance({ rule_id: rule.id }, { signal }),
  });
  return (
    <section className={styles.relevance} aria-labelledby="relevance">
      <h2 id="relevance">Relevance</h2>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Loading what="Loading the relevance" />}
      {data && (
        <>
          <dl>
            {proofFacts(data, rule.relevance).map(({ name, words }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{unhidden(words)}</dd>
              </div>
            ))}
          </dl>
          <Sample ids={data.audit.match_ids} />
        </>
      )}
      <Mutes rule={rule} />
    </section>
  );
}

function Sample({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <div>
      <h3>Label these rejected matches</h3>
      <p className={styles.quiet}>
        A random sample of this week. Your labels show what the judge wrongly rejects.
      </p>
      <ol className={styles.inline}>
        {ids.map((id, index) => (
          <li key={id}>
            <Link href={`/feed?peek=${id}`}>Match {index + 1}</Link>
          </li>
        ))}
      </ol>
    </div>
  );
}

type Mute = Answers['ListMutes']['mutes'][number];
const mutesKey = ['mutes'];

function Mutes({ rule }: { rule: Rule }) {
  const api = useApi();
  const queries = useQueryClient();
  const isAllowed = useHasScope('matches:label');
  const { data, error } = useQuery({ queryKey: mutesKey, queryFn: ({ signal }) => allMutes(api, signal) });
  const remove = useMutation({
    mutationFn: (muteId: string) => api.deleteMute({ mute_id: muteId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: mutesKey }),
  });
  const mutes = data?.filter(({ rule_id }) => rule_id === null || rule_id === rule.id) ?? [];
  const problem = error ?? remove.error;
  return (
    <div>
      <h3>Mutes</h3>
      {problem && <ErrorNote error={problem} />}
      {data && mutes.length === 0 && <p className={styles.quiet}>No author, site or phrase is muted.</p>}
      {!isAllowed && mutes.length > 0 && (
        <p className={styles.quiet}>
          Your key has no <code>matches:label</code> scope, so you cannot delete mutes.
        </p>
      )}
      <ul className={styles.mutes}>
        {mutes.map((mute) => (
          <li key={mute.id}>
            <span>
              {kindOf(mute)} <UntrustedText text={mute.author ?? mute.domain ?? mute.phrase ?? ''} />
              {mute.rule_id === null && <span className={styles.quiet}> in every rule</span>}
            </span>
            <Button
              disabled={!isAllowed}
              aria-label={`Delete the mute of ${unhidden(mute.author ?? mute.domain ?? mute.phrase ?? '')}`}
              onClick={() => remove.mutate(mute.id)}
            >
              Delete
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function kindOf({ author, domain }: Mute): string {
  if (author !== null) return 'Author';
  return domain === null ? 'Phrase' : 'Site';
}

async function allMutes(api: Earshot, signal: AbortSignal): Promise<Mute[]> {
  const found: Mute[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await api.listMutes({ cursor }, { signal });
    found.push(...page.mutes);
    cursor = page.next_cursor;
  }
  return found;
}
