const settleMs = 500;

/** Calls back with true once the window has had the focus for half a second, and with false when it loses the focus. */
export function watchFocus(
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  hasFocus: () => boolean,
  onChange: (isSettled: boolean) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onBlur = () => {
    clearTimeout(timer);
    onChange(false);
  };
  const onFocus = () => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(true), settleMs);
  };
  if (hasFocus()) onFocus();
  target.addEventListener('focus', onFocus);
  target.addEventListener('blur', onBlur);
  return () => {
    clearTimeout(timer);
    target.removeEventListener('focus', onFocus);
    target.removeEventListener('blur', onBlur);
  };
}
