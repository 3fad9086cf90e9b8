import { SOURCE_TYPES, type SourceTypes } from '../src/sources/registry.ts';
import { createManifestJsonSchema } from './manifest/manifest.ts';

/** The parts of a JSON Schema that the page shows. */
interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
}

const HEAD = `# Manifest

A manifest is a YAML or JSON file that describes one migration. Unknown keys are errors, and all mistakes are reported at once. Secrets are never written into it: \`\${NAME}\` names an environment variable, and \`NAME_FILE\` may name a file instead.

For completion in an editor, begin the file with \`# yaml-language-server: $schema=<path>\`, with the path of [manifest.schema.json](../../config/manifest.schema.json).

This page is generated from the schema (\`UPDATE_GOLDEN=1 npx vitest run --config config/vitest.config.ts test/docs\` rewrites it).
`;

const TABLE = ['| Key | Takes | Default | What it does |', '|---|---|---|---|'];

/** docs/reference/manifest.md: every key of a manifest, with its default and meaning. */
export function renderManifestReference(types: SourceTypes = SOURCE_TYPES): string {
  const { source, ...own } = (createManifestJsonSchema(types) as Node).properties ?? {};
  const branches = source?.oneOf ?? [];
  const shared = Object.entries(branches[0]?.properties ?? {}).filter(([key, node]) =>
    branches.every(({ properties }) => key !== 'type' && isSame(properties?.[key], node)),
  );
  const sharedKeys = new Set(['type', ...shared.map(([key]) => key)]);
  return [
    HEAD,
    '## The migration\n',
    ...TABLE,
    ...Object.entries(own).flatMap(([key, node]) => renderRows(key, node, key === 'name')),
    `| \`source\` | an object | required | ${source?.description ?? ''} The tables below have its keys. |`,
    '',
    '## Every source\n',
    ...TABLE,
    `| \`source.type\` | ${types.map(({ type }) => `\`${type}\``).join(', ')} | required | The kind of export. |`,
    ...shared.flatMap(([key, node]) =>
      renderRows(`source.${key}`, node, branches[0]?.required?.includes(key) ?? false),
    ),
    ...branches.flatMap((branch, index) => renderBranch(branch, branches.slice(0, index), sharedKeys)),
    '',
  ].join('\n');
}

/** The keys of one type of source; those that an earlier type has as well are not repeated. */
function renderBranch(branch: Node, earlier: readonly Node[], sharedKeys: ReadonlySet<string>): string[] {
  const rows = renderOwnRows(branch, sharedKeys);
  const sameAs = earlier
    .map((other) => ({ type: getType(other), rows: new Set(renderOwnRows(other, sharedKeys)) }))
    .map((other) => ({ ...other, count: rows.filter((row) => other.rows.has(row)).length }))
    .sort((one, other) => other.count - one.count)
    .find(({ count }) => count * 2 > rows.length);
  const own = rows.filter((row) => !sameAs?.rows.has(row));
  return [
    '',
    `## ${getType(branch)}\n`,
    ...(sameAs
      ? [`The keys of \`${sameAs.type}\`${own.length > 0 ? ', with these differences:\n' : '.'}`]
      : []),
    ...(own.length > 0 ? [...TABLE, ...own] : []),
  ];
}

const getType = (branch: Node): string => String(branch.properties?.['type']?.const);

const renderOwnRows = ({ properties = {}, required = [] }: Node, sharedKeys: ReadonlySet<string>): string[] =>
  Object.entries(properties)
    .filter(([key]) => !sharedKeys.has(key))
    .flatMap(([key, node]) => renderRows(`source.${key}`, node, required.includes(key)));

const isSame = (one: Node | undefined, other: Node): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A key and, below it, the keys of the objects that it holds. */
function renderRows(path: string, node: Node, isRequired: boolean): string[] {
  const cells = [`\`${path}\``, renderType(node), renderDefault(node, isRequired), node.description ?? ''];
  const inner = [node, ...(node.anyOf ?? []), ...(node.items ? [node.items] : [])];
  return [
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
    ...inner.flatMap((each) =>
      Object.entries(each.properties ?? {}).flatMap(([key, child]) =>
        renderRows(
          `${path}${each === node.items ? '[]' : ''}.${key}`,
          child,
          each.required?.includes(key) ?? false,
        ),
      ),
    ),
  ];
}

function renderDefault(node: Node, isRequired: boolean): string {
  if (isRequired && node.default === undefined) return 'required';
  const value = node.default;
  if (value === undefined || (typeof value === 'object' && node.properties)) return '';
  return `\`${JSON.stringify(value)}\``;
}

function renderType(node: Node): string {
  const alternatives = node.anyOf ?? node.oneOf;
  if (alternatives) return [...new Set(alternatives.map(renderType))].join(' or ');
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
  if (node.enum) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.type === 'array') return `a list of ${renderType(node.items ?? {})}`;
  if (node.type === 'object') return 'an object';
  if (node.type === 'string') return 'text';
  if (node.type === 'integer' || node.type === 'number') return 'a number';
  if (node.type === 'boolean') return '`true`, `false`';
  return node.type ?? 'a value';
}
