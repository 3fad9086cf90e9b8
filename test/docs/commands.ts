import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listCommands } from '../support/parse-command.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Its commands have a test of their own, run for hours, or are a reference. */
const OTHERS = /^(deployment|benchmark|reference\/)/;

/** Every `backhaul` command of the documentation without `npx backhaul`, in blocks and in sentences. */
export function listDocumented(): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.md') || OTHERS.test(name)) continue;
    const page = readDocs(name);
    const inline = [...page.matchAll(/`((?:npx )?backhaul [^`…]+)`/g)].map(([, command = '']) => command);
    for (const command of [...listCommands(page.replaceAll(/^ +/gm, '')), ...inline]) {
      const [, words] = /^(?:npx )?backhaul (.+)$/.exec(command) ?? [];
      if (words !== undefined) found.add(words);
    }
  }
  return found;
}

const readDocs = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');

/** The first `yaml` block of a page that begins with a name of its own. */
export function readManifest(page: string, name: string): string {
  for (const [, text = ''] of readDocs(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm))
    if (text.startsWith(`name: ${name}\n`)) return text;
  throw new Error(`docs/${page} has no manifest "${name}"`);
}
