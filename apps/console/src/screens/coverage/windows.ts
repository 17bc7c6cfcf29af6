const hourMs = 3_600_000;

/** The periods that the user can choose. They end now. */
export const windowLabels = { '1h': '1 h', '6h': '6 h', '24h': '24 h', '7d': '7 d', '30d': '30 d' } as const;

export type WindowName = keyof typeof windowLabels;

export const windowMs: Readonly<Record<WindowName, number>> = {
  '1h': hourMs,
  '6h': 6 * hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
};

export function isWindowName(name: string | null): name is WindowName {
  return name !== null && Object.hasOwn(windowLabels, name);
}
