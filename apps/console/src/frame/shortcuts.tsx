import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Modal } from '../parts/modal.tsx';
import styles from './shortcuts.module.css';

export interface Shortcut {
  /** A `KeyboardEvent.key`, or two that are pressed one after the other: `g f`. */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
}

interface Group {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}
type Groups = Map<string, Group>;

const GroupsContext = createContext<RefObject<Groups> | null>(null);
const sequenceMsMax = 1_000;

/** Registers shortcuts while the calling component is mounted. The help lists them under the title. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const groups = useContext(GroupsContext);
  const id = useId();
  // Runs after every render, so that the shortcuts see the latest state.
  useEffect(() => {
    groups?.current.set(id, { title, shortcuts });
  });
  useEffect(() => () => void groups?.current.delete(id), [groups, id]);
}

export function ShortcutsProvider({ children }: { children: ReactNode }) {
  const groups = useRef<Groups>(new Map());
  const [shown, setShown] = useState<readonly Group[] | null>(null);
  useEffect(() => {
    let before = '';
    let beforeAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const sequence = event.timeStamp - beforeAt < sequenceMsMax ? `${before} ${event.key}` : '';
      before = event.key;
      beforeAt = event.timeStamp;
      if (event.key === '?') setShown([...groups.current.values()]);
      const all = [...groups.current.values()].flatMap(({ shortcuts }) => shortcuts);
      const pressed = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === event.key);
      if (!pressed) return;
      before = '';
      event.preventDefault();
      pressed.run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <GroupsContext value={groups}>
      {children}
      {shown && <Help groups={shown} onClose={() => setShown(null)} />}
    </GroupsContext>
  );
}

/** Whether a key belongs to a text field or an open dialog, and must not trigger a shortcut. */
function isTyping({ target }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true;
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, select, textarea'))
  );
}

function Help({ groups, onClose }: { groups: readonly Group[]; onClose: () => void }) {
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      <div className={styles.groups}>
        {groups.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={styles.keys}>
              {shortcuts.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>
                    {keys.split(' ').map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
