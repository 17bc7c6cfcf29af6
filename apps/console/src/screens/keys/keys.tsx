import type { Answers } from '@earshot/sdk';
import { useState } from 'react';
import { useKeys } from '../../api/keys.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { VisuallyHidden } from '../../parts/visually-hidden.tsx';
import { budgetWords } from './budget-words.ts';
import styles from './keys.module.css';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';

type Key = Answers['ListKeys']['keys'][number];

/** Lists the keys of the account, without their secrets. */
export function Keys() {
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const ownId = useSession().data?.key_id;
  const { data, error, refetch } = useKeys();
  return (
    <Screen
      title="Keys"
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Loading the keys" />}
      {data && (
        <>
          <p className={styles.quiet}>
            {data.keys.length === 1 ? '1 valid key.' : `${data.keys.length} valid keys.`} The budget of a key
            limits the total cost of the rules that it creates.
          </p>
          <KeyTable keys={data.keys} ownId={ownId} onRevoke={setRevoked} />
        </>
      )}
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
      {revoked && (
        <RevokeKey revoked={revoked} isOwn={revoked.id === ownId} onClose={() => setRevoked(null)} />
      )}
    </Screen>
  );
}

function KeyTable({
  keys,
  ownId,
  onRevoke,
}: {
  keys: readonly Key[];
  ownId: string | undefined;
  onRevoke: (key: Key) => void;
}) {
  return (
    <Table label="Keys">
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Scopes</th>
          <th scope="col">Budget</th>
          <th scope="col">Last used</th>
          <th scope="col">Valid</th>
          <th scope="col">
            <VisuallyHidden>Actions</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.id} listed={key} isOwn={key.id === ownId} onRevoke={() => onRevoke(key)} />
        ))}
      </tbody>
    </Table>
  );
}

const nameOf = ({ name, client }: Key): string | null => name ?? client?.name ?? null;

function KeyRow({ listed, isOwn, onRevoke }: { listed: Key; isOwn: boolean; onRevoke: () => void }) {
  return (
    <tr>
      <th scope="row">
        {nameOf(listed) !== null && <div>{nameOf(listed)}</div>}
        <code>{listed.display}</code>
        {isOwn && <span className={styles.own}> your key</span>}
        <div className={styles.id}>{listed.id}</div>
      </th>
      <td>
        <ul className={styles.scopes}>
          {listed.scopes.map((scope) => (
            <li key={scope}>{scope}</li>
          ))}
        </ul>
      </td>
      <td className={styles.budget}>{listed.budget === null ? 'none' : budgetWords(listed.budget)}</td>
      <td>{listed.last_used_at === null ? 'never' : <Time at={listed.last_used_at} />}</td>
      <td className={styles.validity}>
        <div>
          since <Time at={listed.created_at} />
        </div>
        {listed.expires_at === null ? (
          'no expiry'
        ) : (
          <>
            until <Time at={listed.expires_at} />
          </>
        )}
      </td>
      <td>
        <Button kind="danger" aria-label={`Revoke ${nameOf(listed) ?? listed.display}`} onClick={onRevoke}>
          Revoke …
        </Button>
      </td>
    </tr>
  );
}
