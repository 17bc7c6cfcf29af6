import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { useRoute } from 'wouter';
import { ApiProvider, createApi, createQueryClient } from './api/api.tsx';
import { createReachability } from './api/reachability.ts';
import { useSession } from './api/session.ts';
import { Frame } from './frame/frame.tsx';
import { ServerUnreachable } from './frame/server-unreachable.tsx';
import { ShortcutsProvider } from './frame/shortcuts.tsx';
import { ErrorNote } from './parts/error-note.tsx';
import { Loading } from './parts/loading.tsx';
import { Authorize } from './screens/authorize/authorize.tsx';
import { useLink } from './screens/sign-in/link.ts';
import { SignIn } from './screens/sign-in/sign-in.tsx';
import { Screens } from './screens.tsx';

export function App() {
  const [queryClient] = useState(createQueryClient);
  const [reachability] = useState(() => createReachability(queryClient));
  const [api] = useState(() => createApi(reachability.onAnswer));
  return (
    <QueryClientProvider client={queryClient}>
      <ApiProvider value={api}>
        <ShortcutsProvider>
          <ServerUnreachable reachability={reachability} />
          <Gate />
        </ShortcutsProvider>
      </ApiProvider>
    </QueryClientProvider>
  );
}

/** Shows the console only to a signed-in user. */
function Gate() {
  const { data: session, error, refetch } = useSession();
  const link = useLink();
  const [, authorization] = useRoute('/console/authorize/:id');
  // If the server becomes unreachable, a signed-in user keeps the current screen.
  if (!session && (error || session === undefined))
    return (
      <main>
        <h1>Earshot</h1>
        {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Loading />}
      </main>
    );
  // A signed-in user can also open a sign-in link. If it is for another account, the sign-in page says so.
  if (session === null || link.code !== null)
    return <SignIn session={session} link={link} isForProgram={authorization !== null} />;
  if (authorization) return <Authorize id={authorization.id} session={session} key={session.account_id} />;
  return (
    <Frame session={session}>
      <Screens />
    </Frame>
  );
}
