import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type Session, useSignOut } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import styles from './frame.module.css';
import { type Destination, isAt, navigation } from './navigation.ts';
import { NoticesBadge } from './notices-badge.tsx';
import { useShortcuts } from './shortcuts.tsx';
import { SourcesBadge } from './sources-badge.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

export function Frame({ session, children }: { session: Session; children: ReactNode }) {
  const [location, navigate] = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  useShortcuts('Everywhere', [
    { keys: '?', label: 'Show keyboard shortcuts', run: () => undefined },
    ...navigation
      .flat()
      .map(({ path, label, key }) => ({ keys: `g ${key}`, label, run: () => navigate(path) })),
  ]);
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <header className={styles.side} data-open={isMenuOpen}>
        <div className={styles.top}>
          <Link href="/feed" className={styles.brand ?? ''}>
            Earshot
          </Link>
          <button
            type="button"
            className={styles.menu}
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            Menu
          </button>
        </div>
        <div id="navigation" className={styles.body}>
          <nav aria-label="Screens">
            {navigation.map((group) => (
              <ul key={group[0]?.path}>
                {group.map((destination) => (
                  <NavigationItem
                    key={destination.path}
                    destination={destination}
                    isCurrent={isAt(destination, location)}
                    onGo={() => setMenuOpen(false)}
                  />
                ))}
              </ul>
            ))}
          </nav>
          <Footer session={session} />
        </div>
      </header>
      <main id="content" className={styles.content} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function NavigationItem({
  destination,
  isCurrent,
  onGo,
}: {
  destination: Destination;
  isCurrent: boolean;
  onGo: () => void;
}) {
  return (
    <li>
      <Link
        href={destination.path}
        className={styles.link ?? ''}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onGo}
      >
        {destination.label}
        {destination.path === '/notices' && <NoticesBadge />}
        {destination.path === '/sources' && <SourcesBadge />}
      </Link>
    </li>
  );
}

function Footer({ session }: { session: Session }) {
  const signOut = useSignOut();
  return (
    <div className={styles.footer}>
      <p title={session.account_id}>{session.account_name}</p>
      <ThemeSwitch />
      <Button onClick={() => signOut.mutate()} disabled={signOut.isPending}>
        Sign out
      </Button>
      {signOut.error && <p role="alert">{signOut.error.message}</p>}
      <p className={styles.hint}>
        <kbd>?</kbd> Keyboard shortcuts
      </p>
    </div>
  );
}
