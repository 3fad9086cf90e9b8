import { z } from 'zod';
import { listSettingFields, type SettingField } from './settings.ts';

/** The settings as a Markdown table, for the README. */
export function renderSettingsTable(): string {
  const rows = listSettingFields().map((field) => {
    const name = field.secret ? `\`${field.env}\` (or \`${field.env}_FILE\`)` : `\`${field.env}\``;
    return `| ${name} | ${renderDefault(field) || 'unset'} | ${getDescription(field)} |`;
  });
  return ['| Setting | Default | What it does |', '|---|---|---|', ...rows, ''].join('\n');
}

/** docs/reference/settings.md. */
export const renderSettingsReference = (): string =>
  `# Settings

Settings come from environment variables and belong to a machine or a fleet; what belongs to one migration is in its [manifest](manifest.md). All are optional: without any, everything runs embedded. A secret can be in a file instead, named by the same variable with \`_FILE\` at its end.

[config/example.env](../../config/example.env) has the same list as a file to copy. The AWS SDK also reads its own variables (\`AWS_PROFILE\`, \`AWS_REGION\` and so on).

This page is generated from the schema (\`UPDATE_GOLDEN=1 npx vitest run --config config/vitest.config.ts test/docs\` rewrites it).

${renderSettingsTable()}`;

/** config/example.env: every setting, commented out, with its default. */
export function renderExampleEnv(): string {
  const head = [
    '# Every setting of Backhaul. All are optional: without any, everything runs embedded.',
    '# A secret can be in a file instead, named by the same variable with _FILE at its end.',
  ];
  const settings = listSettingFields().flatMap((field) => [
    '',
    ...wrap(getDescription(field), 100).map((line) => `# ${line}`),
    `#${field.env}=${renderDefault(field)}`,
  ]);
  return [...head, ...settings, ''].join('\n');
}

function renderDefault(field: SettingField): string {
  const parsed = z.safeParse(field.schema, undefined);
  return parsed.success && parsed.data !== undefined && parsed.data !== false ? String(parsed.data) : '';
}

const getDescription = (field: SettingField): string => z.globalRegistry.get(field.schema)?.description ?? '';

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
