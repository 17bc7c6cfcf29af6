import { unhidden } from '@earshot/mcp/visible';
import { EarshotError, type Rule } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { RuleActions } from '../rules/rule-actions.tsx';
import { EditorForm } from './editor-form.tsx';

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
      {data && <EditorForm key={data.version} rule={data} />}
    </Screen>
  );
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
