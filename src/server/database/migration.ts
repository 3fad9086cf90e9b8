export interface Migration {
  /** Steps run in this order, once each. A released step is never edited. */
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}
