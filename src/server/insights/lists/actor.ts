/** Who did an event, as facts name them (`ACTOR` in events-store.ts). */
export type Actor =
  | { readonly kind: 'person'; readonly id: number }
  /** The uuid of a person who is gone. */
  | { readonly kind: 'former person'; readonly uuid: string }
  /** An id that never had a person. */
  | { readonly kind: 'distinct id'; readonly distinctId: string };

/** Digits are a person's id; a letter before any other text says what it is, so that no two share a name. */
export function parseActor(text: string): Actor {
  const rest = text.slice(1);
  if (text.startsWith('u')) return { kind: 'former person', uuid: rest };
  if (text.startsWith('d')) return { kind: 'distinct id', distinctId: rest };
  return { kind: 'person', id: Number(text) };
}
