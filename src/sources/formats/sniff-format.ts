import { guessDelimiter } from './csv-row.ts';
import type { Encoding } from './decode-text.ts';

export interface ReadOptions {
  /** What the manifest declares. Default: JSON, in lines or an array. */
  readonly format?: 'jsonl' | 'json' | 'csv' | 'tsv' | undefined;
  /** One character. Default: tab for `tsv`, else the one that the header row uses most. */
  readonly delimiter?: string | undefined;
  /** Of files without a byte order mark. @default UTF-8 */
  readonly encoding?: Encoding | undefined;
  /** Of a CSV: what its columns lack, as the end of a sentence; undefined when they will do. */
  readonly checkColumns?: ((names: readonly string[]) => string | undefined) | undefined;
}

export type TextForm =
  | { readonly kind: 'lines' }
  | { readonly kind: 'array' }
  /** JSON documents of several lines each, in sequence. */
  | { readonly kind: 'documents' }
  | { readonly kind: 'csv'; readonly delimiter: string };

/** Enough text for any header row that a person would write. */
export const SNIFF_BYTES = 64 * 1024;

/** What a text is, by how it starts; the manifest decides only where the text does not. */
export function sniffFormat(head: Buffer, { format, delimiter }: ReadOptions): TextForm {
  const text = head.subarray(0, SNIFF_BYTES).toString('latin1').trimStart();
  if (format === 'csv' || format === 'tsv') {
    // A header may well start with a bracket ("[Amplitude] Country"), but what follows is not JSON.
    const isJson = /^(\{\s*["}]|\[\s*[{[\]])/.test(text);
    if (!isJson) return { kind: 'csv', delimiter: delimiter ?? defaultDelimiter(format, text) };
  }
  if (text.startsWith('[')) return { kind: 'array' };
  if (/^\{[ \t]*\r?\n/.test(text)) return { kind: 'documents' };
  return { kind: 'lines' };
}

const defaultDelimiter = (format: 'csv' | 'tsv', text: string): string =>
  format === 'tsv' ? '\t' : guessDelimiter(text.split('\n', 1)[0] ?? '');
