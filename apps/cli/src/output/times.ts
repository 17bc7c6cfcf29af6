/** `2026-11-15 08:00:04`, in the local time zone. */
export function shortTime(timestamp: string | null): string {
  if (timestamp === null) return '–';
  const date = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${date.toTimeString().slice(0, 8)}`;
}
