import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { lazyScreen } from './api/load-screen.ts';
import { isAt, navigation } from './frame/navigation.ts';
import { Loading } from './parts/loading.tsx';
import { Screen } from './parts/screen.tsx';
import { NotFound } from './screens/not-found.tsx';

const Feed = lazyScreen(async () => (await import('./screens/feed/feed.tsx')).Feed);
const Rules = lazyScreen(async () => (await import('./screens/rules/rules.tsx')).Rules);
const Editor = lazyScreen(async () => {
  const { Editor: screen, loadLanguages } = await import('./screens/editor/editor.tsx');
  await loadLanguages();
  return screen;
});
const Coverage = lazyScreen(async () => (await import('./screens/coverage/coverage.tsx')).Coverage);
const Sources = lazyScreen(async () => (await import('./screens/sources/sources.tsx')).Sources);
const Cost = lazyScreen(async () => (await import('./screens/cost/cost.tsx')).Cost);
const Notices = lazyScreen(async () => (await import('./screens/notices/notices.tsx')).Notices);
const Webhooks = lazyScreen(async () => (await import('./screens/webhooks/webhooks.tsx')).Webhooks);
const Keys = lazyScreen(async () => (await import('./screens/keys/keys.tsx')).Keys);
const Audit = lazyScreen(async () => (await import('./screens/audit/audit.tsx')).Audit);

export function Screens() {
  return (
    <Suspense fallback={<LoadingScreen />}>
      <Switch>
        <Route path="/feed" component={Feed} />
        <Route path="/rules" component={Rules} />
        <Route path="/rules/new">
          <Editor />
        </Route>
        <Route path="/rules/:id">{({ id }) => <Editor ruleId={id} key={id} />}</Route>
        <Route path="/coverage" component={Coverage} />
        <Route path="/sources" component={Sources} />
        <Route path="/cost" component={Cost} />
        <Route path="/notices" component={Notices} />
        <Route path="/webhooks">
          <Webhooks />
        </Route>
        <Route path="/webhooks/:id">{({ id }) => <Webhooks webhookId={id} key={id} />}</Route>
        <Route path="/keys" component={Keys} />
        <Route path="/audit" component={Audit} />
        <Route path="/">
          <Redirect to="/feed" replace />
        </Route>
        <Route path="/sign-in">
          <Redirect to="/feed" replace />
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Shown while the script of a screen loads. */
function LoadingScreen() {
  const [location] = useLocation();
  const destination = navigation.flat().find((known) => isAt(known, location));
  return (
    <Screen title={destination?.label ?? 'Earshot'}>
      <Loading />
    </Screen>
  );
}
