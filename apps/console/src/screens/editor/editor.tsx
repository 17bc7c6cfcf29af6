import { unhidden } from '@earshot/mcp/visible';
import { EarshotError, type Rule } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { lazyScreen } from '../../api/load-screen.ts';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { exampleOf } from '../feed/examples.ts';
import { RuleActions } from '../rules/rule-actions.tsx';
import { EditorForm } from './editor-form.tsx';
import type { AddedExample } from './use-kept-draft.ts';

export { loadLanguages } from './languages.ts';

/** Loads after the form, which is large. */
const RuleRelevance = lazyScreen(async () => (await import('./rule-relevance.tsx')).RuleRelevance);

/** Creates a rule, or changes the rule with the id. */
export function Editor({ ruleId }: { ruleId?: string }) {
  if (ruleId === undefined)
    return (
      <Screen title="New rule">
        <EditorForm />
      </Screen>
    );
  return <StoredRule ruleId={ruleId} />;
}

function StoredRule({ ruleId }: { ruleId: string }) {
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['rules', ruleId],
    queryFn: ({ signal }) => api.getRule({ rule_id: ruleId }, { signal }),
  });
  const added = useAddedExample();
  if (error instanceof EarshotError && error.code === 'not_found')
    return (
      <Screen title="Rule">
        <EmptyNote title="The rule does not exist.">
          <Link href="/rules">Show all rules</Link>
        </EmptyNote>
      </Screen>
    );
  return (
    <Screen
      title={data ? unhidden(data.name) : 'Rule'}
      actions={data && <StoredActions rule={{ ...data, name: unhidden(data.name) }} />}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {/* A new version resets the form. A save names the version that it is based on. */}
      {data && added.isReady && <EditorForm key={data.version} rule={data} added={added.example} />}
      {data && (
        <Suspense>
          <RuleRelevance rule={data} />
        </Suspense>
      )}
    </Screen>
  );
}

/** The match that the address names as an example, such as `?must_match=mat_1`. */
function useAddedExample(): { readonly example: AddedExample | undefined; readonly isReady: boolean } {
  const api = useApi();
  const [params] = useSearchParams();
  const expectation = (['must_match', 'must_not_match'] as const).find((one) => params.has(one));
  const id = expectation && params.get(expectation);
  const { data, isLoading } = useQuery({
    queryKey: ['exampleMatch', id],
    queryFn: ({ signal }) => api.getMatch({ match_id: id ?? '' }, { signal }),
    enabled: expectation !== undefined,
  });
  const example = expectation && data && { expectation, example: exampleOf(data) };
  return { example, isReady: !isLoading };
}

function StoredActions({ rule }: { rule: Rule }) {
  const [, navigate] = useLocation();
  return (
    <>
      <Link href={`/feed?rule=${rule.id}`}>Matches of this rule</Link>
      <RuleActions rule={rule} onDeleted={() => navigate('/rules')} />
    </>
  );
}
