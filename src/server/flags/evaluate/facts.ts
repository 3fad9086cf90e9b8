import type { JsonObject } from '../../http/json.ts';

/** What is stored of a person or a group; `unavailable` while the database is away. */
export type Stored =
  | { readonly kind: 'found'; readonly properties: JsonObject; readonly cohorts: ReadonlySet<number> }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable' };

/** Whom conditions are about: one person, or one group. */
export interface Subject {
  /** What is hashed: a distinct id, or the key of a group. */
  readonly identifier: string;
  readonly stored: Stored;
  /** Properties that come with the request; each replaces the stored one of its name. */
  readonly given: JsonObject;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Everything that a decision about all flags of a project depends on. */
export interface Facts {
  readonly person: Subject;
  /** By the index of their type. */
  readonly groups: ReadonlyMap<number, Subject>;
  /**
   * Identifiers that flags with a lasting value use instead of the distinct id, by the key of the flag;
   * `unavailable` while the database is away.
   */
  readonly hashKeys: ReadonlyMap<string, string> | 'unavailable';
}
