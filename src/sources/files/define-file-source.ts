import { z } from 'zod';
import { from, geoip, timezone } from '../common-options.ts';
import { type ReadOptions, readRecords } from '../formats/read-records.ts';
import type { Fields } from '../mapping/table.ts';
import {
  createVersionedMap,
  listVersions,
  type MapsByVersion,
  toObjectMap,
} from '../mapping/versioned-map.ts';
import type { ListFieldFates, Source, SourceBlock, SourceType, WithGeoip, WithTimezone } from '../source.ts';
import { findSourceFiles } from './find-source-files.ts';
import { openSourceFile } from './open-source-file.ts';

/** A source whose records are in files. `Shape`: the keys of its block beside `type` and those of every file source. */
export interface FileSourceDefinition<Shape extends z.ZodRawShape>
  extends Omit<SourceType, 'block' | 'bind' | 'versions'> {
  readonly options: z.ZodObject<Shape, z.core.$strict>;
  /** The map of each version that migrations may be pinned to. */
  readonly maps: MapsByVersion<FileSourceOptions<Shape>>;
  /** Whether the maps take views of records: they read `knownFields` and nothing else of them. @default false */
  readonly takesViews?: boolean;
  readonly findUnmatched?: (options: FileSourceOptions<Shape>, records: readonly Fields[]) => string[];
  readonly toHideHashed?: (options: FileSourceOptions<Shape>) => Source['hideHashed'];
  /** See Source. @default none */
  readonly listUnheeded?: (options: FileSourceOptions<Shape>, version: number) => readonly string[];
  /** See Source. */
  readonly toFindSent?: (
    options: FileSourceOptions<Shape>,
    version: number,
  ) => ((record: Fields) => string | undefined) | undefined;
  /** @default top-level fields by `knownFields` */
  readonly toListFieldFates?: (options: FileSourceOptions<Shape>) => ListFieldFates;
  /** @default formats are recognised by what a file holds */
  readonly toReadOptions?: (options: FileSourceOptions<Shape>) => ReadOptions;
}

export type FileSourceOptions<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>> &
  WithTimezone &
  WithGeoip;

const located = { from, timezone, geoip };

/** The keys that every file source has: still checked where `type` itself is wrong. */
export const locatedBlock = z.object(located);

/** A `SourceType` once `Shape` is known: until then TypeScript cannot see that a block has a `type`. */
export function defineFileSource<Shape extends z.ZodRawShape>(definition: FileSourceDefinition<Shape>) {
  const {
    options,
    maps,
    toReadOptions,
    toListFieldFates,
    findUnmatched,
    toHideHashed,
    listUnheeded,
    toFindSent,
    takesViews = false,
    ...facts
  } = definition;
  const known = facts.knownFields();
  const viewFields = takesViews && known !== 'all' ? known : undefined;
  return {
    ...facts,
    versions: listVersions(maps),
    block: z.strictObject({ type: z.literal(facts.type), ...located, ...options.shape }),
    bind({ type: _type, ...block }: SourceBlock): Source {
      const place = locatedBlock.parse(block);
      const own = Object.fromEntries(Object.entries(block).filter(([key]) => !Object.hasOwn(located, key)));
      const bound = { ...options.parse(own), timezone: place.timezone, geoip: place.geoip };
      const read = toReadOptions?.(bound) ?? {};
      return {
        createMap: (settings) => toObjectMap(createVersionedMap(maps, bound, settings)),
        createImportMap: (settings) =>
          Object.assign(createVersionedMap(maps, bound, settings), {
            // An id of the whole record takes all of its fields.
            viewFields: settings?.idFrom === 'record' ? undefined : viewFields,
          }),
        findUnmatched: (records) => findUnmatched?.(bound, records) ?? [],
        hideHashed: toHideHashed?.(bound),
        listUnheeded: (version) => listUnheeded?.(bound, version) ?? [],
        toFindSent: (version) => toFindSent?.(bound, version),
        listFieldFates: toListFieldFates?.(bound),
        checksHeaders: read.checkColumns !== undefined,
        discover: (context) => findSourceFiles(place.from, context),
        async *open(slice, context, onBytes) {
          yield* readRecords(await openSourceFile(slice, context), read, onBytes);
        },
      };
    },
  };
}
