import { createHash } from 'node:crypto';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';
import type { Manifest } from './manifest.ts';
import { type TimeWindow, toTimeWindow } from './window.ts';

/**
 * What must not change between run and resume: it decides which events are made, and where they go.
 * Limits, approval and the threshold of rejects may change at any time; a key may, as long as the project is the same.
 */
export interface ManifestIdentity {
  readonly source: Manifest['source'];
  /** Address of the service, or `bundled`. */
  readonly destination: string;
  /** Where the manifest names it. */
  readonly 'destination.project'?: string;
  /** The ledger of the destination says whose shared devices are, so that is not compared here. */
  readonly people: Omit<Manifest['people'], 'sharedDevices'>;
  /** Absent in what an earlier version began, which stamps nothing. */
  readonly stamps?: Manifest['stamps'];
  /** The moments that it means: another way to write them is no other window. */
  readonly window?: TimeWindow;
}

export function manifestIdentity(manifest: Manifest): { identity: ManifestIdentity; sha256: string } {
  const project = manifest.destination?.project;
  const window = toTimeWindow(manifest);
  const { sharedDevices: _, ...people } = manifest.people;
  const identity: ManifestIdentity = {
    source: manifest.source,
    destination: manifest.destination?.url.replace(/\/+$/, '') ?? 'bundled',
    ...(project === undefined ? {} : { 'destination.project': project }),
    people,
    stamps: manifest.stamps,
    ...(window === undefined ? {} : { window }),
  };
  return { identity, sha256: createHash('sha256').update(canonicalJson(identity)).digest('hex') };
}

/** One line a difference: field, then, now. Takes identities as stored, of any version. */
export function describeDifference(then: unknown, now: unknown): string[] {
  const before = leaves(then);
  const after = leaves(now);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .map(
      (path) => `${path}: was ${before.get(path) ?? 'not there'}, is now ${after.get(path) ?? 'not there'}`,
    );
}

/** Dotted path → JSON text. Lists are compared whole: an item put in front moves all the others. */
function leaves(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map(value === undefined ? [] : [[path || 'the manifest', canonicalJson(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([key, child]) => [...leaves(child, path === '' ? key : `${path}.${key}`)]),
  );
}
