import { DateTime } from 'luxon';
import type { DashboardTemplate, TemplateTile } from '../../../config/dashboards/dashboard-template.ts';
import { inPairs } from '../../../config/dashboards/dashboard-templates.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { applyRelativeDate, parseRelativeDate } from '../query/date-text.ts';

/** The history that a project has. */
export interface History {
  /** Time of the last event, in milliseconds since 1970. */
  readonly last: number;
  /** The project's: an IANA name. */
  readonly timeZone: string;
  /** Names of the properties of recent events. */
  readonly properties: ReadonlySet<string>;
}

/** Live projects have events of the last days, so what counts back from today shows something. */
const LIVE_MS = 7 * 86_400_000;

const DEFAULT_FROM = '-7d';

/**
 * A template for the history at hand. Where the project's last event is more than a week old, `-30d` would
 * show nothing: such dates then count back from that event and become days, and tiles about properties that
 * no recent event has are left out. `now` in milliseconds since 1970.
 */
export function fitTemplate(
  template: DashboardTemplate,
  history: History | undefined,
  now: number,
): DashboardTemplate {
  if (history === undefined || now - history.last <= LIVE_MS) return template;
  const last = DateTime.fromMillis(history.last, { zone: history.timeZone });
  const tiles = keepFilled(template.tiles, history);
  const { dashboard_filters: filters } = template;
  if ('date_from' in filters) return { ...template, tiles, dashboard_filters: anchorDates(filters, last) };
  return { ...template, tiles: tiles.map((tile) => anchorTile(tile, last)) };
}

/** What is left takes the places of what is left out. A template of which nothing would be left stays whole. */
function keepFilled(tiles: readonly TemplateTile[], { properties }: History): readonly TemplateTile[] {
  const filled = tiles.filter((tile) => listProperties(tile).every((key) => properties.has(key)));
  if (filled.length === 0 || filled.length === tiles.length) return tiles;
  const insights = filled.filter((tile) => tile.type === 'INSIGHT');
  return insights.length === filled.length ? inPairs(insights) : filled;
}

/** Properties of events that a tile breaks down or filters by. */
function listProperties(tile: TemplateTile): string[] {
  if (tile.type === 'TEXT' || !tile.filters) return [];
  const { breakdown, breakdown_type: type, properties } = tile.filters;
  const conditions = Array.isArray(properties) ? properties.filter(isJsonObject) : [];
  const keys = conditions.flatMap(({ key, type: owner }) => (owner === 'event' ? [key] : []));
  return [...keys, ...(type === 'event' ? [breakdown] : [])].filter((key) => typeof key === 'string');
}

function anchorTile(tile: TemplateTile, last: DateTime): TemplateTile {
  if (tile.type === 'TEXT' || !tile.filters) return tile;
  return { ...tile, filters: anchorDates(tile.filters, last) };
}

/** Dates that are no count of hours to years back stay as they are. */
function anchorDates(filters: JsonObject, last: DateTime): JsonObject {
  const { date_from: given = DEFAULT_FROM } = filters;
  const relative = typeof given === 'string' && !filters['date_to'] ? parseRelativeDate(given) : undefined;
  const from = relative && applyRelativeDate(relative, last);
  return from ? { ...filters, date_from: from.toISODate(), date_to: last.toISODate() } : filters;
}
