import type { Notice } from '@earshot/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { noticesKey } from '../../api/open-notices.ts';
import { Choice } from '../../parts/choice.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Screen } from '../../parts/screen.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import {
  alertFacts,
  noticeTitle,
  severityWords,
  statusOfNotice,
  subjectName,
  subjectPath,
} from './notice-words.ts';
import styles from './notices.module.css';

const shows = { open: 'Open', all: 'All' } as const;
type Show = keyof typeof shows;

export function Notices() {
  const [params, setParams] = useSearchParams();
  const show: Show = params.get('show') === 'all' ? 'all' : 'open';
  const { data, error, refetch, ...pages } = useNotices(show);
  const notices = data?.pages.flatMap((page) => page.notices) ?? [];
  return (
    <Screen
      title="Notices"
      actions={
        <Choice
          label="Filter"
          options={shows}
          value={show}
          onChange={(chosen) => setParams(chosen === 'all' ? { show: chosen } : {}, { replace: true })}
        />
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Loading the notices" />}
      {data && notices.length === 0 && <NoNotices show={show} />}
      <ul className={styles.notices}>
        {notices.map((notice) => (
          <NoticeRow key={notice.id} notice={notice} />
        ))}
      </ul>
      <More pages={pages} />
    </Screen>
  );
}

function useNotices(show: Show) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [noticesKey, 'pages', show],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      api.listNotices(
        { ...(show === 'open' && { open: true }), ...(pageParam !== null && { cursor: pageParam }) },
        { signal },
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

function NoNotices({ show }: { show: Show }) {
  return show === 'open' ? (
    <EmptyNote title="There are no open notices.">
      <p>
        New notices appear here. To receive them elsewhere, create a <Link href="/webhooks">webhook</Link>.
      </p>
    </EmptyNote>
  ) : (
    <EmptyNote title="There are no notices, or they are no longer stored." />
  );
}

function NoticeRow({ notice }: { notice: Notice }) {
  const { type, severity, subject, data, what_to_do, created_at, resolved_at } = notice;
  const message = data['message'];
  return (
    <li className={styles.notice} data-resolved={resolved_at !== null}>
      <div className={styles.severity}>
        <StatusMark kind={statusOfNotice(notice)}>
          {resolved_at === null ? severityWords[severity] : 'Resolved'}
        </StatusMark>
      </div>
      <div className={styles.body}>
        <h2 className={styles.title}>
          {noticeTitle(notice)}:{' '}
          <Link href={subjectPath(notice)}>
            <UntrustedText text={subjectName(subject)} />
          </Link>
        </h2>
        <p>{what_to_do}</p>
        {alertFacts(data).map(({ name, values }) => (
          <p key={name} className={styles.quiet}>
            {name}: <UntrustedText text={values.join(', ')} />
          </p>
        ))}
        {typeof message === 'string' && !what_to_do.includes(message) && (
          <p className={styles.quiet}>
            Error message: <UntrustedText text={message} />
          </p>
        )}
      </div>
      <p className={styles.times}>
        <Time at={created_at} />
        {resolved_at !== null && (
          <>
            {' '}
            to <Time at={resolved_at} />
          </>
        )}
        <br />
        <code>{type}</code>
      </p>
    </li>
  );
}
