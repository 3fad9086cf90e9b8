import type { SourceSlice } from '../../sources/source.ts';
import type { AheadFile, WaitingFiles } from '../../state/schedules/runs.ts';

type Found = Pick<SourceSlice, 'fileId' | 'name' | 'bytes' | 'modified' | 'location'>;

export interface SettlingTimes {
  readonly now: Date;
  readonly lagMs: number;
}

/** What one run of a schedule leaves to a later one, for its note. */
export interface LeftFiles {
  readonly waiting?: WaitingFiles;
  readonly ahead?: AheadFile[];
}

/** Judges, in one run of a schedule, which files are taken in, and collects those that wait. */
export interface Settling {
  isSettled(file: Found): boolean;
  listLeft(): LeftFiles;
}

const NAMED = 3;

/**
 * A file of a disk that changed a moment ago may still be written; an object of a bucket appears whole. A time of
 * change in the future says nothing, as the clock that gave it is another one: such a file is settled once it was the
 * same in looks that lie the lag apart. `seen`: those of the runs before.
 */
export function createSettling(
  { now, lagMs }: SettlingTimes,
  seen: readonly AheadFile[] | undefined,
): Settling {
  const seenById = new Map(seen?.map((file) => [file.fileId, file]));
  /** By file, as one run may look twice. */
  const left = new Map<string, { readonly name: string; readonly ahead: AheadFile | undefined }>();
  let hasLooked = false;
  return {
    isSettled({ fileId, name, bytes, modified, location }) {
      hasLooked = true;
      const modifiedMs = Date.parse(modified);
      if (location === 'shared' || !(modifiedMs > now.getTime() - lagMs)) return true;
      const before = seenById.get(fileId);
      const isSame =
        before?.bytes === bytes && before.modified === modified && Date.parse(before.since) <= now.getTime();
      const since = isSame ? before.since : now.toISOString();
      if (isSame && now.getTime() - Date.parse(since) >= lagMs) return true;
      const isAhead = isSame || modifiedMs > now.getTime();
      left.set(fileId, { name, ahead: isAhead ? { fileId, bytes, modified, since } : undefined });
      return false;
    },
    listLeft() {
      // A run that never looked changes nothing of what was seen.
      if (!hasLooked) return seen === undefined ? {} : { ahead: [...seen] };
      if (left.size === 0) return {};
      const all = [...left.values()];
      const ahead = all.flatMap((file) => file.ahead ?? []);
      const names = all.slice(0, NAMED).map(({ name }) => name);
      return {
        waiting: { files: all.length, ahead: ahead.length, names },
        ...(ahead.length === 0 ? {} : { ahead }),
      };
    },
  };
}

/** `1 file waits for a later run, as it may still be written: a.json`. */
export function describeWaiting({ files, ahead, names }: WaitingFiles): string {
  const isOne = files === 1;
  const more = files - names.length;
  const named = [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const what = isOne
    ? '1 file waits for a later run, as it may still be written'
    : `${files} files wait for a later run, as they may still be written`;
  const of = isOne ? 'its time of change' : `the time of change of ${ahead === files ? 'each' : ahead}`;
  return `${what}: ${named}${ahead === 0 ? '' : ` (${of} lies in the future)`}`;
}
