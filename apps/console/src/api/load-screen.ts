import { type ComponentType, lazy } from 'react';
import { readSession } from './session.ts';

const retryMs = 3_000;

/**
 * Loads the script of a screen when the screen is first shown. Loading fails if the server is down or has a new version.
 * Browsers cache a failed script until the page is reloaded, so the page reloads as soon as the server answers.
 */
export function lazyScreen<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await load().catch(reloadPage) }));
}

async function reloadPage(): Promise<never> {
  do await new Promise((resolve) => setTimeout(resolve, retryMs));
  while (!(await isServerReachable()));
  window.location.reload();
  // Never resolves: the reload ends the page.
  return new Promise(() => undefined);
}

async function isServerReachable(): Promise<boolean> {
  return readSession().then(
    () => true,
    () => false,
  );
}
