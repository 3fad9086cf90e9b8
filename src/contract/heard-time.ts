/**
 * Times of facts about who is who that may only be heard (see Heard). Such a fact merges nothing, so its time is after
 * all others; where its record has a time, that follows behind a mark, because whose a shared device is depends on when
 * each user was first seen. Of facts that count and of ones that are heard a fold keeps both times.
 */

/** After every time that is read, so that a fact which says the same with its time counts instead. */
export const HEARD_TIME = '9999-12-31T23:59:59.999Z';
const MARK = '@';

export const isHeardTime = (time: string): boolean => time.startsWith(HEARD_TIME);

/** Of a fact that is only heard, of a record of that time. */
export function toHeardTime(time: string): string {
  const first = toFirstTime(time);
  return first === HEARD_TIME ? HEARD_TIME : `${HEARD_TIME}${MARK}${first}`;
}

/** When the fact first counted. */
export const toCountedTime = (time: string): string =>
  time.length <= HEARD_TIME.length ? time : time.slice(0, HEARD_TIME.length);

/** When it was first true, by all that was heard. */
export function toFirstTime(time: string): string {
  if (time.length <= HEARD_TIME.length) return time;
  const counted = toCountedTime(time);
  const heard = time.slice(HEARD_TIME.length + MARK.length);
  return heard < counted ? heard : counted;
}

/** Of two facts that say the same; associative, commutative and idempotent. */
export function joinTimes(a: string, b: string): string {
  if (a.length <= HEARD_TIME.length && b.length <= HEARD_TIME.length) return b < a ? b : a;
  const first = earlier(toFirstTime(a), toFirstTime(b));
  const counted = earlier(toCountedTime(a), toCountedTime(b));
  return first < counted ? `${counted}${MARK}${first}` : counted;
}

const earlier = (a: string, b: string): string => (b < a ? b : a);
