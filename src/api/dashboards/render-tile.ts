import { failure, freshness, renderInsightBody, userOf } from '../insight-body.ts';
import type { JsonObject } from '../json.ts';
import type { Privilege, Restriction } from '../levels.ts';
import type { User } from '../users.ts';
import type { StoredText, TilePlace } from './tile-store.ts';
import type { TileView } from './view-tiles.ts';

/** What tiles say beside themselves. */
export interface TileSurroundings {
  readonly projectId: number;
  readonly users: ReadonlyMap<number, User>;
  /** Every tile of the insights that are shown. */
  readonly places: readonly TilePlace[];
  readonly restriction: Restriction;
  readonly privilege: Privilege;
}

/** A tile in the shape that clients of the service read. A failed result adds `error`. */
export function renderTile({ tile, insight, result }: TileView, around: TileSurroundings): JsonObject {
  return {
    id: tile.id,
    layouts: tile.layouts,
    color: tile.color,
    insight: insight ? renderInsightBody(insight, result, around) : null,
    text: tile.text ? renderText(tile.text, around) : null,
    ...freshness(result),
    ...failure(result),
  };
}

function renderText(text: StoredText, { users, projectId }: TileSurroundings): JsonObject {
  return {
    id: text.id,
    body: text.body,
    created_by: userOf(users, text.createdBy),
    last_modified_at: text.lastModifiedAt,
    last_modified_by: userOf(users, text.lastModifiedBy),
    team: projectId,
  };
}
