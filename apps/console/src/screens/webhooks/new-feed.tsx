import type { Requests } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { otherError, violationOf } from '../../api/violations.ts';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Modal } from '../../parts/modal.tsx';
import { platformNames, platforms } from '../../parts/platforms.ts';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { RuleChecks } from './new-webhook.tsx';

export const feedsKey = ['listFeeds'];

const fields = ['name', 'rule_ids', 'platform', 'relevance', 'query'];

const relevances = {
  all: 'Any relevance',
  not_irrelevant: 'Without not relevant',
  relevant: 'Only relevant',
} as const;

interface Draft {
  readonly name: string;
  readonly platform: string;
  readonly relevance: string;
  readonly query: string;
}

/** Creates a feed, then shows its URLs. */
export function NewFeed({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>({ name: '', platform: '', relevance: 'all', query: '' });
  const [ruleIds, setRuleIds] = useState<readonly string[]>([]);
  const create = useCreate(draft, ruleIds);
  const change = (field: keyof Draft) => ({
    value: draft[field],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setDraft({ ...draft, [field]: target.value }),
  });
  if (create.data) {
    const { atom_url, json_url } = create.data;
    return (
      <Modal title="Feed created" onClose={onClose}>
        {atom_url !== null && <ShownOnce what="URL of the Atom feed" value={absolute(atom_url)} />}
        {json_url !== null && <ShownOnce what="URL of the JSON Feed" value={absolute(json_url)} />}
      </Modal>
    );
  }
  return (
    <Modal title="New feed" onClose={onClose}>
      <Form
        submit="Create"
        error={otherError(create.error, fields)}
        isPending={create.isPending}
        onSubmit={() => create.mutate()}
      >
        <Field
          label="Name"
          hint="The title that the feed reader shows."
          problem={violationOf(create.error, 'name')}
        >
          {(control) => <input {...control} {...change('name')} autoComplete="off" />}
        </Field>
        <RuleChecks chosen={ruleIds} onChange={setRuleIds} problem={violationOf(create.error, 'rule_ids')} />
        <Field label="Platform" problem={violationOf(create.error, 'platform')}>
          {(control) => (
            <select {...control} {...change('platform')}>
              <option value="">All platforms</option>
              {platforms.map((id) => (
                <option key={id} value={id}>
                  {platformNames[id]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Relevance" problem={violationOf(create.error, 'relevance')}>
          {(control) => (
            <select {...control} {...change('relevance')}>
              {Object.entries(relevances).map(([id, words]) => (
                <option key={id} value={id}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Words"
          hint="Only items that contain all these words. If empty, all items."
          problem={violationOf(create.error, 'query')}
        >
          {(control) => <input {...control} {...change('query')} autoComplete="off" />}
        </Field>
      </Form>
    </Modal>
  );
}

/** Without a configured address, the server returns a path. */
function absolute(url: string): string {
  return new URL(url, window.location.origin).href;
}

function useCreate({ name, query, ...draft }: Draft, ruleIds: readonly string[]) {
  const api = useApi();
  const queries = useQueryClient();
  const platform = platforms.find((one) => one === draft.platform);
  const relevance: Requests['CreateFeed']['relevance'] = isRelevance(draft.relevance)
    ? draft.relevance
    : 'all';
  return useMutation({
    mutationFn: () =>
      api.createFeed({
        name,
        relevance,
        ...(ruleIds.length > 0 && { rule_ids: [...ruleIds] }),
        ...(platform !== undefined && { platform }),
        ...(query.trim() !== '' && { query }),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: feedsKey }),
  });
}

function isRelevance(text: string): text is keyof typeof relevances {
  return text in relevances;
}
