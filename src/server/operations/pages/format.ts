export { formatBytes } from '../../../migrations/plan/format-text.ts';

/** `1,234` */
export const formatCount = (value: number): string => Math.round(value).toLocaleString('en-US');

/** `2024-01-31 08:05:00`, UTC. */
export const formatTime = (iso: string): string => iso.slice(0, 19).replace('T', ' ');

/** `bad_timestamp` as words. */
export const toWords = (reason: string): string => reason.replaceAll('_', ' ');
