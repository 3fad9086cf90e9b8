import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ENTRY = 'dist/src/cli/main.js';
const FOLDER = 'dist/bundle';

/** The command line in a few files, for the launcher. */
export const BUNDLED_MAIN = `${FOLDER}/main.js`;

/**
 * Packages that stay as they are: they look for files of their own at run time, or are loaded by few commands.
 */
const EXTERNAL = /^(@aws-sdk|@bull-board|@electric-sql|msgpackr-extract|pg$|swagger-ui-dist)/;

/**
 * Joins the built command line and its packages into a few files: a start would otherwise look for, read and
 * compile a thousand. What imports what stays lazy. Source maps lead back to `dist/src` (map-stack.mjs).
 */
export async function bundle(root) {
  const entry = join(root, ENTRY);
  const resolveFrom = createRequire(join(root, 'package.json'));
  // A folder without a command line, such as that of a test, has nothing to join.
  if (!existsSync(entry)) return;
  const { rolldown } = await import(pathToFileURL(resolveFrom.resolve('rolldown')).href);
  const build = await rolldown({
    input: { main: entry },
    cwd: root,
    platform: 'node',
    external: [EXTERNAL],
    // Packages call eval and require in ways that are only reported.
    logLevel: 'silent',
  });
  rmSync(join(root, FOLDER), { recursive: true, force: true });
  const { output } = await build.write({
    dir: join(root, FOLDER),
    format: 'esm',
    sourcemap: true,
    chunkFileNames: '[name]-[hash].js',
  });
  await build.close();
  for (const { type, fileName } of output) {
    if (type === 'chunk') compileAtOnce(join(root, FOLDER, fileName));
  }
  // Nobody corrects packages here, and the map of a large one takes a tenth of a second to read.
  const own = join(root, 'dist/');
  for (const { fileName, moduleIds } of output) {
    if (moduleIds?.some((id) => id.startsWith(own)) === false) {
      rmSync(join(root, FOLDER, `${fileName}.map`), { force: true });
    }
  }
}

/**
 * A CommonJS module is a function in its chunk. V8 would only look for the end of an arrow function, and read it a
 * second time when it is called; a `function` behind a parenthesis is compiled with the chunk.
 */
function compileAtOnce(path) {
  const text = readFileSync(path, 'utf8');
  const changed = text.replaceAll(/(__commonJSMin\(\()(\([\w$, ]*\)) => \{/g, '$1function$2 {');
  if (changed !== text) writeFileSync(path, changed);
}
