import type { z } from 'zod';
import {
  type DashboardTemplate,
  dashboardTemplate,
  templateTile,
} from '../../../config/dashboards/dashboard-template.ts';
import { DASHBOARD_TEMPLATES, TEMPLATE_ALIASES } from '../../../config/dashboards/dashboard-templates.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { shorten } from '../../lib/preview.ts';
import { invalidInput } from '../http/errors.ts';
import { valueAt } from '../http/validation-error.ts';

/** By its own name or one of the service's; undefined when there is none. */
export function findTemplate(key: string): DashboardTemplate | undefined {
  const name = Object.hasOwn(TEMPLATE_ALIASES, key) ? TEMPLATE_ALIASES[key] : key;
  return DASHBOARD_TEMPLATES.find((template) => template.template_name === name);
}

const TILE_TYPES = new Set<unknown>(['INSIGHT', 'TEXT']);

/** A template that a client sent. Tiles of an unknown type are dropped, as the service does. */
export function parseTemplate(document: unknown): DashboardTemplate {
  const template = read(dashboardTemplate, document);
  const tiles = template.tiles.filter((tile) => TILE_TYPES.has(tile['type']));
  return { ...template, tiles: tiles.map((tile) => read(templateTile, tile)) };
}

function read<S extends z.ZodType>(schema: S, document: unknown): z.infer<S> {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidInput(issue === undefined ? 'The template cannot be read.' : describeProblem(issue, document));
}

/** The service validates templates with a JSON Schema, and reports the first problem in that library's words. */
function describeProblem(issue: z.core.$ZodIssue, document: unknown): string {
  const value = valueAt(document, issue.path);
  if (value === undefined) return `'${String(issue.path.at(-1) ?? 'template')}' is a required property`;
  const shown = shorten(stringifyJson(value), MAX_SHOWN);
  if (issue.code === 'invalid_type')
    return `${shown} is not of type '${TYPE_NAMES[issue.expected] ?? issue.expected}'`;
  if (issue.code === 'too_small') return `${shown} is too short`;
  if (issue.code === 'too_big') return `${shown} is too long`;
  if (issue.code === 'invalid_value')
    return `${shown} is not one of [${issue.values.map((one) => `'${String(one)}'`).join(', ')}]`;
  return `${shown} is not valid: ${issue.message}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = { record: 'object' };

const MAX_SHOWN = 100;
