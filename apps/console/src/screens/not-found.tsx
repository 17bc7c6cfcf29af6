import { Link } from 'wouter';
import { EmptyNote } from '../parts/empty-note.tsx';
import { Screen } from '../parts/screen.tsx';

export function NotFound() {
  return (
    <Screen title="Page not found">
      <EmptyNote title="The page does not exist.">
        <Link href="/feed">Show the feed</Link>
      </EmptyNote>
    </Screen>
  );
}
