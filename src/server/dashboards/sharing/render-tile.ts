import type { Privilege, Restriction } from '../../auth/levels.ts';
import type { User } from '../../auth/users.ts';
import type { JsonObject } from '../../http/json.ts';
import { failure, freshness, getUser, renderInsightBody } from '../../insights/insight-body.ts';
import type { StoredText, TilePlace } from '../tiles/store.ts';
import type { TileView } from '../tiles/view-tiles.ts';

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
    created_by: getUser(users, text.createdBy),
    last_modified_at: text.lastModifiedAt,
    last_modified_by: getUser(users, text.lastModifiedBy),
    team: projectId,
  };
}
