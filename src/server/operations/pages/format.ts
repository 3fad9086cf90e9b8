/** `1,234` */
export const formatCount = (value: number): string => Math.round(value).toLocaleString('en-US');

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1.2 MB` */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${UNITS[power]}`;
}

/** `2024-01-31 08:05:00`, UTC. */
export const formatTime = (iso: string): string => iso.slice(0, 19).replace('T', ' ');

/** `bad_timestamp` as words. */
export const toWords = (reason: string): string => reason.replaceAll('_', ' ');
