import type { Answers } from '@earshot/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { useRules } from '../../api/rules.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Form } from '../../parts/form.tsx';
import { Modal } from '../../parts/modal.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import { VisuallyHidden } from '../../parts/visually-hidden.tsx';
import { feedsKey, NewFeed } from './new-feed.tsx';
import styles from './webhooks.module.css';

type Feed = Answers['ListFeeds']['feeds'][number];

/** Feeds for feed readers. Their URLs are credentials, so only a key that may create keys manages them. */
export function Feeds() {
  return useSession().data?.scopes.includes('keys:write') ? <FeedSection /> : null;
}

function FeedSection() {
  const api = useApi();
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<Feed | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: feedsKey,
    queryFn: ({ signal }) => api.listFeeds({}, { signal }),
  });
  return (
    <section className={styles.section}>
      <header className={styles.header}>
        <h2>Feeds</h2>
        <Button onClick={() => setCreating(true)}>New feed</Button>
      </header>
      <p className={styles.quiet}>
        A feed shows the newest matches in a feed reader, as Atom or JSON Feed. Its secret URL needs no key.
      </p>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data && data.feeds.length > 0 && <FeedTable feeds={data.feeds} onDelete={setDeleted} />}
      {isCreating && <NewFeed onClose={() => setCreating(false)} />}
      {deleted && <DeleteFeed feed={deleted} onClose={() => setDeleted(null)} />}
    </section>
  );
}

function FeedTable({ feeds, onDelete }: { feeds: readonly Feed[]; onDelete: (feed: Feed) => void }) {
  return (
    <Table label="Feeds">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Matches</th>
          <th scope="col">Created</th>
          <th scope="col">Last read</th>
          <th scope="col">
            <VisuallyHidden>Actions</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody>
        {feeds.map((feed) => (
          <tr key={feed.id}>
            <th scope="row">
              <UntrustedText text={feed.name} />
            </th>
            <td>
              <FeedFilter feed={feed} />
            </td>
            <td>
              <Time at={feed.created_at} />
              {feed.expires_at !== null && (
                <>
                  , until <Time at={feed.expires_at} />
                </>
              )}
            </td>
            <td>{feed.last_read_at === null ? 'never' : <Time at={feed.last_read_at} />}</td>
            <td>
              <Button kind="danger" aria-label={`Delete ${feed.name}`} onClick={() => onDelete(feed)}>
                Delete …
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function FeedFilter({ feed: { rule_ids, platform, relevance, query } }: { feed: Feed }) {
  const rules = useRules().data ?? [];
  const nameOf = (ruleId: string) => rules.find(({ id }) => id === ruleId)?.name ?? 'a deleted rule';
  const parts = [
    rule_ids === null ? 'All rules' : rule_ids.map(nameOf).join(', '),
    platform !== null && platformNames[platform],
    relevance === 'relevant' && 'only relevant',
    relevance === 'not_irrelevant' && 'without not relevant',
    query !== null && `with “${query}”`,
  ];
  return <UntrustedText text={parts.filter(Boolean).join(' · ')} />;
}

function DeleteFeed({ feed, onClose }: { feed: Feed; onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteFeed({ feed_id: feed.id }),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: feedsKey });
    },
  });
  return (
    <Modal title="Delete the feed" onClose={onClose}>
      <Form
        submit="Delete"
        kind="danger"
        error={remove.error}
        isPending={remove.isPending}
        onSubmit={() => remove.mutate()}
      >
        <p>
          The URLs of <UntrustedText text={feed.name} /> stop working at once. Matches are not affected. You
          cannot undo this.
        </p>
      </Form>
    </Modal>
  );
}
