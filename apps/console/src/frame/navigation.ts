export interface Destination {
  readonly path: string;
  readonly label: string;
  /** Pressed after `g`. */
  readonly key: string;
}

/** Whether the address is the screen or a page below it. */
export function isAt({ path }: Destination, location: string): boolean {
  return location === path || location.startsWith(`${path}/`);
}

/** The screens, grouped as in the navigation. */
export const navigation: readonly (readonly Destination[])[] = [
  [
    { path: '/feed', label: 'Feed', key: 'f' },
    { path: '/rules', label: 'Rules', key: 'r' },
    { path: '/notices', label: 'Notices', key: 'n' },
  ],
  [
    { path: '/coverage', label: 'Coverage', key: 'c' },
    { path: '/sources', label: 'Sources', key: 's' },
    { path: '/cost', label: 'Cost', key: 'd' },
  ],
  [
    { path: '/webhooks', label: 'Webhooks', key: 'w' },
    { path: '/keys', label: 'Keys', key: 'k' },
    { path: '/audit', label: 'Audit', key: 'a' },
  ],
];
