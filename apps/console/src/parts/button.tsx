import type { ComponentProps } from 'react';
import styles from './button.module.css';

interface ButtonProps extends ComponentProps<'button'> {
  /** `plain` looks like text; `danger` is for actions that cannot be undone. */
  readonly kind?: 'normal' | 'primary' | 'danger' | 'plain';
  /** Ignores clicks while its action runs. Unlike a disabled button, it keeps the focus. */
  readonly isBusy?: boolean;
}

export function Button({ kind = 'normal', isBusy = false, className, onClick, ...rest }: ButtonProps) {
  const classes = [styles.button, styles[kind], className].filter(Boolean).join(' ');
  return (
    <button
      type="button"
      className={classes}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? undefined : onClick}
      {...rest}
    />
  );
}
