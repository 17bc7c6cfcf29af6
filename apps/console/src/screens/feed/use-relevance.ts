import type { Answers, Requests } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Dispatch, useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { useHasScope } from '../../api/session.ts';
import type { FeedEvent, FeedItem } from './feed-state.ts';

export type LabelName = NonNullable<Requests['LabelMatches']['label']>;
export type Suggestion = Answers['LabelMatches']['mute_suggestions'][number];
type Labelled = FeedItem['match'];
type Source = Pick<Suggestion, 'rule_id' | 'author' | 'domain'>;

export type RelevanceActions = ReturnType<typeof useRelevance>;

/** Suggestions that were offered. Each is offered once. */
const offered = new Set<string>();

/** Labels and mutes. Their outcome is shown above the list, because the user may already read the next match. */
export function useRelevance(dispatch: Dispatch<FeedEvent>) {
  const api = useApi();
  const queries = useQueryClient();
  const isAllowed = useHasScope('matches:label');
  const [offer, setOffer] = useState<Suggestion | null>(null);
  // The open match may not be in the list.
  const refresh = () => queries.invalidateQueries({ queryKey: ['getMatch'] });

  const label = useMutation({
    mutationFn: async ({ match, label }: { match: Labelled; label: LabelName | null }) => {
      const { mute_suggestions } = await api.labelMatches({ match_ids: [match.id], label });
      // Without the label, the verdict of the judge counts again.
      const { relevance } = label === null ? await api.getMatch({ match_id: match.id }) : {};
      return { relevance: relevance?.by === 'judge' ? relevance : undefined, mute_suggestions };
    },
    onSuccess: ({ relevance, mute_suggestions }, { match: { id }, label }) => {
      const given = label && ({ verdict: label, by: 'label', reason: null, intent_version: null } as const);
      dispatch({ type: 'labelled', id, relevance: given ?? relevance });
      const found = mute_suggestions.find((one) => !offered.has(nameOf(one)));
      if (found) {
        offered.add(nameOf(found));
        setOffer(found);
        mute.reset();
      }
      return refresh();
    },
  });
  const mute = useMutation({
    mutationFn: ({ rule_id, author, domain }: Source) =>
      api.muteMatches({ rule_id, ...(author === null ? { domain: domain ?? '' } : { author }) }),
    onSuccess: (made) => {
      dispatch({ type: 'muted', mute: made });
      setOffer(null);
      return refresh();
    },
  });
  const unmute = useMutation({
    mutationFn: (muteId: string) => api.deleteMute({ mute_id: muteId }),
    onSuccess: ({ mute_id }) => {
      dispatch({ type: 'unmuted', muteId: mute_id });
      mute.reset();
      return refresh();
    },
  });

  return {
    isAllowed,
    /** The latest label that was saved. */
    labelled: label.isSuccess ? label.variables : null,
    offer,
    dismiss: () => setOffer(null),
    /** The latest mute, to be undone. */
    muted: mute.data ?? null,
    forgetMuted: mute.reset,
    error: label.error ?? mute.error ?? unmute.error,
    /** Gives the match this label, or removes it. Ignored while the previous label of the match is saved. */
    toggleLabel: (match: Labelled, name: LabelName) => {
      if (!isAllowed || (label.isPending && label.variables.match.id === match.id)) return;
      label.mutate({ match, label: labelOf(match) === name ? null : name });
    },
    mute: (source: Source) => mute.mutate(source),
    unmute: (muteId: string) => unmute.mutate(muteId),
  };
}

export function labelOf({ relevance }: Pick<Labelled, 'relevance'>): LabelName | null {
  if (relevance?.by !== 'label') return null;
  return relevance.verdict === 'relevant' ? 'relevant' : 'not_relevant';
}

function nameOf({ rule_id, author, domain }: Suggestion): string {
  return `${rule_id} ${author ?? domain}`;
}
