const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
const days = new Map<number, string>();

/** `YYYY-MM-DD HH:MM:SS.ffffff`, UTC without saying so. By hand: a record holds six of them. */
export function amplitudeTime(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  const ms = epochMs - day * DAY_MS;
  const seconds = Math.floor(ms / 1_000);
  const clock = `${TWO[Math.floor(seconds / 3_600)]}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}`;
  return `${dayOf(day)} ${clock}.${String(ms % 1_000).padStart(3, '0')}000`;
}

/** UTC day of a time, `YYYY-MM-DD`. */
export const amplitudeDay = (epochMs: number): string => dayOf(Math.floor(epochMs / DAY_MS));

function dayOf(day: number): string {
  let text = days.get(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 10);
    days.set(day, text);
  }
  return text;
}
