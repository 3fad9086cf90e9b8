import { joinTimes } from '../../contract/heard-time.ts';
import type { UserSeen } from './users-seen.ts';

/**
 * Users that were seen with an id, each with the first time. Most ids have one, which needs no map: those of a part
 * stay in memory until its last record.
 */
export class UserTimes {
  #user: string;
  #time: string;
  #all: Map<string, string> | undefined;

  constructor(user: string, time: string) {
    this.#user = user;
    this.#time = time;
  }

  get size(): number {
    return this.#all?.size ?? 1;
  }

  has(user: string): boolean {
    return this.#all ? this.#all.has(user) : user === this.#user;
  }

  /** Made for whoever asks; nothing is added to it. */
  get map(): ReadonlyMap<string, string> {
    return this.#all ?? new Map([[this.#user, this.#time]]);
  }

  /** False when the user was seen before. */
  add(user: string, time: string): boolean {
    if (!this.#all) {
      if (user === this.#user) {
        this.#time = joinTimes(this.#time, time);
        return false;
      }
      this.#all = new Map([[this.#user, this.#time]]);
    }
    const first = this.#all.get(user);
    const joined = first === undefined ? time : joinTimes(first, time);
    if (joined !== first) this.#all.set(user, joined);
    return first === undefined;
  }

  get(user: string): string | undefined {
    if (this.#all) return this.#all.get(user);
    return user === this.#user ? this.#time : undefined;
  }

  list(): UserSeen[] {
    return this.#all ? [...this.#all] : [[this.#user, this.#time]];
  }
}
