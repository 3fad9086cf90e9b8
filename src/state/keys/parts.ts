import type { Packing, PartMeta } from '../../contract/part.ts';
import { JSON_END, toOrdinal } from './ordinal.ts';

export interface PartsOwner {
  readonly name: string;
  readonly id: string;
  /** See MigrationRecord. */
  readonly partsById?: boolean;
}

/**
 * Folder of the parts of a migration and of the receipts of its slices. It is named by the id: what a process that
 * slept stages for a migration that was removed must not become that of another one with its name.
 */
export const toPartsPrefix = ({ name, id, partsById = false }: PartsOwner): string =>
  partsById ? `${name}/staged/${id}/` : `${name}/`;

/** Keys of staged files and their parts below the folder of the parts of a migration, or of a plan. */
export const partKeys = (prefix: string) => ({
  parts: `${prefix}parts/`,
  fileParts: (fileId: string) => `${prefix}parts/${fileId}/`,
  /** Named by its content, so that a writer of other content replaces nothing (I5). */
  body: ({ id, packing, sha256 }: Pick<PartMeta, 'id' | 'packing' | 'sha256'>) =>
    packing === undefined
      ? `${prefix}parts/${id}.gz`
      : `${prefix}parts/${id}.${sha256.slice(0, 16)}${BODY_ENDS[packing]}`,
  description: (partId: string) => `${prefix}parts/${partId}${JSON_END}`,
  receipts: `${prefix}files/`,
  /** Versions of the receipt of one slice begin so. */
  receiptVersions: (fileId: string) => `${prefix}files/${fileId}.`,
  /** A later version stands beside the earlier ones: no version is ever replaced (I5). */
  receipt: (fileId: string, version: number) =>
    version === 1
      ? `${prefix}files/${fileId}${JSON_END}`
      : `${prefix}files/${fileId}.${toOrdinal(version)}${JSON_END}`,
});

const BODY_ENDS: Readonly<Record<Packing, string>> = { none: '.frames', brotli: '.frames.br' };

/** Number, packing and the start of the digest of `shop/parts/<file>/00000.<hash>.frames`; undefined for any other name. */
export function parseBodyKey(
  key: string,
): { number: number; sha256Start: string; packing: Packing } | undefined {
  const [, digits, sha256Start, packed] = /\/(\d{5,})\.([0-9a-f]{16})\.frames(\.br)?$/.exec(key) ?? [];
  return digits !== undefined && sha256Start !== undefined
    ? { number: Number(digits), sha256Start, packing: packed ? 'brotli' : 'none' }
    : undefined;
}

/** The id of a part is unique in its migration and is part of the keys of all that belongs to it. */
export const toPartId = (fileId: string, number: number): string =>
  `${fileId}/${String(number).padStart(5, '0')}`;

/** The slice that a part is of. */
export const parseSliceId = (partId: string): string => partId.slice(0, partId.lastIndexOf('/'));

/** The part's id of `<prefix>parts/<file>/00000.json`. */
export const parsePartKey = (prefix: string, key: string): string =>
  key.slice(partKeys(prefix).parts.length, -JSON_END.length);

/** Slice and version of `shop/files/<slice>.json` and `shop/files/<slice>.00000002.json`; undefined for any other name. */
export function parseFileReceiptKey(key: string): { fileId: string; version: number } | undefined {
  const [, fileId, digits = '1'] = /\/files\/([^/.]+)(?:\.(\d{8,}))?\.json$/.exec(key) ?? [];
  const version = Number(digits);
  return fileId !== undefined && Number.isSafeInteger(version) ? { fileId, version } : undefined;
}

/** The holder of a part, by its fence. */
export interface Writer {
  readonly part: string;
  readonly epoch: number;
  readonly counter: number;
}

/** Identity facts of one part, below the folder of a migration or of a plan. */
export const toFactsKey = (prefix: string, segment: string): string => `${prefix}findings/${segment}.gz`;
