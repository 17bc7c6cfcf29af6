import { EarshotError, type Rule } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { rulesKey } from '../../api/rules.ts';
import { useHasScope } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { VisuallyHidden } from '../../parts/visually-hidden.tsx';
import { exampleOf, examplesWith, hasExample } from './examples.ts';
import styles from './feed.module.css';
import type { FeedItem } from './feed-state.ts';
import type { LabelName } from './use-relevance.ts';

/** Makes a labelled match an example, which later versions of the rule must satisfy. */
export function AddExample({
  match,
  label,
  rule,
}: {
  match: FeedItem['match'];
  label: LabelName;
  rule: Rule;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const whyId = useId();
  const isAllowed = useHasScope('rules:write');
  const expectation = label === 'relevant' ? 'must_match' : 'must_not_match';
  const words = label === 'relevant' ? 'must match' : 'must not match';
  const example = exampleOf(match);
  const add = useMutation({
    mutationFn: () =>
      api.updateRule({
        rule_id: rule.id,
        if_version: rule.version,
        examples: examplesWith(rule.examples, expectation, example),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: rulesKey }),
  });
  const isAdded = hasExample(rule.examples, expectation, example);
  return (
    <>
      <Button
        title={`Later versions of the rule ${words} it`}
        disabled={!isAllowed}
        aria-describedby={isAllowed ? undefined : whyId}
        isBusy={add.isPending || isAdded}
        onClick={() => add.mutate()}
      >
        {isAdded ? 'Added' : 'Add'} as example<VisuallyHidden> that {words}</VisuallyHidden>
      </Button>
      {!isAllowed && (
        <p id={whyId} className={styles.quiet}>
          Your key has no <code>rules:write</code> scope, so you cannot change the rule.
        </p>
      )}
      {add.error && <Refusal error={add.error} href={`/rules/${rule.id}?${expectation}=${match.id}`} />}
    </>
  );
}

/** The editor shows which part of the query decides, and takes the example. */
function Refusal({ error, href }: { error: Error; href: string }) {
  const violations = error instanceof EarshotError ? (error.details.violations ?? []) : [];
  return (
    <>
      <ErrorNote error={error} />
      {violations.length > 0 && (
        <p>
          <Link href={href}>Change the query, with this example</Link>
        </p>
      )}
    </>
  );
}
