import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes stacks name the built file of each source instead of the files in `folder`, which it was joined into.
 * A source map is read when the first stack needs it, so a start pays nothing. A stack that begins in a package
 * stays as it is: Node.js reads those of all errors that sockets are closed with.
 */
export function mapStacks(folder) {
  const maps = new Map();
  const loadMap = (url) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  Error.prepareStackTrace = (error, frames) => {
    const top = frames[0]?.getFileName();
    const render = isOwn(top) ? renderFrame : String;
    return [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${render(frame)}`)].join(
      '\n',
    );
  };
  const isOwn = (url) => url?.startsWith(folder) && existsSync(toMapPath(url));

  function renderFrame(frame) {
    const text = frame.toString();
    const url = frame.getFileName();
    if (!isOwn(url)) return text;
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
    const entry = loadMap(url)?.findEntry(line - 1, column - 1);
    if (entry?.originalSource === undefined) return text;
    const source = fileURLToPath(new URL(entry.originalSource, url));
    return text.replace(
      `${url}:${line}:${column}`,
      `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`,
    );
  }
}

function readMap(url) {
  try {
    return new SourceMap(JSON.parse(readFileSync(toMapPath(url), 'utf8')));
  } catch {
    return undefined;
  }
}

const toMapPath = (url) => fileURLToPath(`${url}.map`);
