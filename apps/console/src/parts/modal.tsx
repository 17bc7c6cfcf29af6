import { type ReactNode, useEffect, useId, useRef } from 'react';
import styles from './modal.module.css';

/** A native dialog: the browser traps the focus, closes the dialog on Escape and restores the focus. */
export function Modal({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <header className={styles.header}>
        <h2 id={titleId}>{title}</h2>
        <button
          type="button"
          className={styles.close}
          onClick={() => dialog.current?.close()}
          aria-label="Close"
        >
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
