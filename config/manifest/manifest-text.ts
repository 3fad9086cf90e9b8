import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Mistake } from './manifest-mistakes.ts';
import type { KeyPath } from './schema-keys.ts';

export interface ManifestText {
  /** The parsed text, before variables are filled in. */
  readonly tree: unknown;
  readonly syntaxErrors: readonly string[];
  /** `line:column` of a mistake, from 1. */
  locate(mistake: Mistake): string;
}

/** YAML 1.2, which includes JSON. A repeated key is a mistake: neither value wins. */
export function parseManifestText(text: string): ManifestText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}`;
  };
  const syntaxErrors = document.errors.map((error) => `${position(error.pos[0])}  ${error.message}`);
  return {
    tree: syntaxErrors.length > 0 ? undefined : document.toJS(),
    syntaxErrors,
    locate: ({ path, at }) => position(findOffset(document, path, at)),
  };
}

function findOffset(document: Document, path: KeyPath, at: Mistake['at']): number {
  const key = at === 'key' ? findKeyOffset(document, path) : undefined;
  if (key !== undefined) return key;
  // Where the value itself is not written, the nearest block around it is.
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) {
      return isMap(node) && length < path.length
        ? (findKeyOffset(document, path.slice(0, length)) ?? node.range[0])
        : node.range[0];
    }
  }
  return document.contents?.range?.[0] ?? 0;
}

function findKeyOffset(document: Document, path: KeyPath): number | undefined {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}
