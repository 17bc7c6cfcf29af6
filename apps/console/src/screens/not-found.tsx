import { Link } from 'wouter';
import { EmptyNote } from '../parts/empty-note.tsx';
import { Screen } from '../parts/screen.tsx';

export function NotFound() {
  return (
    <Screen title="Nothing here">
      <EmptyNote title="There is no such page.">
        <Link href="/feed">Go to the feed</Link>
      </EmptyNote>
    </Screen>
  );
}
