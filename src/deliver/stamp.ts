import type { TextBuffer } from '../lib/text-buffer.ts';

/**
 * Properties that every event of a migration carries, so that it can be found at the destination. They are no part
 * of what a record says: neither its uuid nor the hash of its content depends on them.
 */
export interface Stamp {
  readonly properties: Readonly<Record<string, string>>;
  /** The same as JSON members, each behind a comma: `,"name":"value"`. */
  readonly text: string;
}

/** Undefined where nothing is to be stamped. */
export function createStamp(properties: Readonly<Record<string, string>>): Stamp | undefined {
  const members = Object.entries(properties).map(
    ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return members.length === 0 ? undefined : { properties, text: members.join('') };
}

/** Puts the stamp behind the properties of the event that was written last, in which these stand last. */
export function stampLast(events: TextBuffer, stamp: Stamp): void {
  events.end -= END.length;
  events.write(stamp.text);
  events.write(END);
}

/**
 * The name under which a record's own property goes that is called as a stamp is. `has`: names that are taken, such as in
 * an event that was imported twice.
 */
export function toOwnName(name: string, has: (name: string) => boolean = () => false): string {
  let own = `source_${name}`;
  while (has(own)) own = `source_${own}`;
  return own;
}

const END = '}}';
