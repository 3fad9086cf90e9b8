import { z } from 'zod';
import { type SettingField, settingFields } from './settings.ts';

/** The settings as a Markdown table, for the README. */
export function renderSettingsTable(): string {
  const rows = settingFields().map((field) => {
    const name = field.secret ? `\`${field.env}\` (or \`${field.env}_FILE\`)` : `\`${field.env}\``;
    return `| ${name} | ${defaultOf(field) || 'unset'} | ${descriptionOf(field)} |`;
  });
  return ['| Setting | Default | What it does |', '|---|---|---|', ...rows, ''].join('\n');
}

/** config/example.env: every setting, commented out, with its default. */
export function renderExampleEnv(): string {
  const head = [
    '# Every setting of Backhaul. All are optional: without any, everything runs embedded.',
    '# A secret may stand in a file instead, named by the same variable with _FILE at its end.',
  ];
  const settings = settingFields().flatMap((field) => [
    '',
    ...wrap(descriptionOf(field), 100).map((line) => `# ${line}`),
    `#${field.env}=${defaultOf(field)}`,
  ]);
  return [...head, ...settings, ''].join('\n');
}

function defaultOf(field: SettingField): string {
  const parsed = z.safeParse(field.schema, undefined);
  return parsed.success && parsed.data !== undefined && parsed.data !== false ? String(parsed.data) : '';
}

const descriptionOf = (field: SettingField): string => z.globalRegistry.get(field.schema)?.description ?? '';

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
