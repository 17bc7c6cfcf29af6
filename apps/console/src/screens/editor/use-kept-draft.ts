import type { Rule } from '@earshot/sdk';
import { useCallback, useState } from 'react';
import { examplesWith, hasExample } from '../feed/examples.ts';
import { type Draft, draftOf, type Example, type Expectation, emptyDraft } from './draft.ts';

/** An example that the form adds to the draft. */
export interface AddedExample {
  readonly expectation: Expectation;
  readonly example: Example;
}

/**
 * The state of the form. Changes are kept in this tab until they are saved or the user signs out, so that leaving the page loses
 * nothing. A new version of the rule begins a new draft.
 */
export function useKeptDraft(rule: Rule | undefined, added: AddedExample | undefined) {
  const name = `draft of ${rule ? `${rule.id} ${rule.version}` : 'a new rule'}`;
  const stored = rule ? draftOf(rule) : emptyDraft;
  const [kept] = useState(() => readDraft(name));
  const [draft, setState] = useState(() => withExample(kept ?? stored, added));
  const [isRestored, setRestored] = useState(kept !== null);
  const setDraft = useCallback(
    (change: (before: Draft) => Draft) =>
      setState((before) => {
        const after = change(before);
        sessionStorage.setItem(name, JSON.stringify(after));
        return after;
      }),
    [name],
  );
  const discard = () => {
    sessionStorage.removeItem(name);
    setRestored(false);
    setState(stored);
  };
  return { draft, setDraft, isRestored, discard };
}

function withExample(draft: Draft, added: AddedExample | undefined): Draft {
  if (!added || hasExample(draft.examples, added.expectation, added.example)) return draft;
  return { ...draft, examples: examplesWith(draft.examples, added.expectation, added.example) };
}

/** Only this module writes the item, so it has the form of a draft. */
function readDraft(name: string): Draft | null {
  const text = sessionStorage.getItem(name);
  return text === null ? null : JSON.parse(text);
}
