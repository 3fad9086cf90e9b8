import type { Project } from '../../auth/projects.ts';
import { type Db, prepareAll } from '../../database/db.ts';
import { isOutage } from '../../database/outage.ts';
import type { DefinedNames } from '../../definitions/defined-names.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';
import { dropRepeats } from '../same-row.ts';
import { createGroupCommit } from './group-commit.ts';
import { dropPointless, type Ingested, ingestLocked, type Planned } from './ingest.ts';
import { loadKnown } from './known-store.ts';
import { describesGroup } from './plan-groups.ts';
import { lockProjectByKey } from './project-lock.ts';

/** Requests that share a transaction. */
const MAX_TOGETHER = 64;
/** A request of more events gains little from company. */
const MAX_EVENTS_EACH = 20;

/** Small requests to one project share transactions. */
export interface IngestTogether {
  /**
   * Resolves once the events are committed.
   *
   * @throws ProjectChanged when the key belongs to another project, or to none
   */
  ingest(project: Project, events: readonly IncomingEvent[]): Promise<void>;
}

/** The project that a request was parsed for is no longer that of its key. */
export class ProjectChanged extends Error {}

/** What the events of a request depend on. */
export const isSameProject = (a: Project | undefined, b: Project): boolean =>
  a?.id === b.id && a.uuid === b.uuid;

/** A limit was met that counts by request: each has to go by itself. */
class LimitMet extends Error {}

/** Whether requests like this one may share a transaction: what each does to persons must not depend on it. */
export const maySharePlace = (events: readonly IncomingEvent[]): boolean =>
  events.length <= MAX_EVENTS_EACH && !events.some(describesGroup);

export function createIngestTogether(deps: {
  readonly db: Db;
  readonly defined: DefinedNames;
  readonly onIngested: (project: Project, result: Ingested) => void;
}): IngestTogether {
  const { db, defined, onIngested } = deps;

  async function commit(key: string, requests: readonly Request[]): Promise<void> {
    const expected = requests[0]?.project;
    if (expected === undefined) return;
    const events = dropPointless(dropRepeats(requests.flatMap(({ events }) => events)));
    const { project, result } = await db.transaction(async (unprepared) => {
      const tx = prepareAll(unprepared);
      // Read for the project that is expected, before the answer says whether it is that one.
      const [project, before] = await Promise.all([
        lockProjectByKey(tx, key),
        loadKnown(tx, expected.id, events),
      ]);
      if (project === undefined || !requests.every((request) => isSameProject(request.project, project))) {
        throw new ProjectChanged();
      }
      const result = await ingestLocked(tx, project.id, {
        events,
        before,
        names: defined.forProject(project),
        approve(planned) {
          if (requests.length > 1 && mayMeetLimit(events, planned)) throw new LimitMet();
        },
      });
      return { project, result };
    });
    defined.forProject(project).remember(result.defined);
    onIngested(project, result);
  }

  const together = createGroupCommit<Request>({
    commit,
    maxItems: MAX_TOGETHER,
    mayGoAlone: (error) => !isOutage(error),
  });
  return {
    ingest: (project, events) => together.add(project.projectKey, { project, events }),
  };
}

interface Request {
  readonly project: Project;
  readonly events: readonly IncomingEvent[];
}

/**
 * What is too large for a person is dropped request by request. As nobody can have more than all of them had
 * and all events bring (each property twice: `$initial_…`), most are far from the limit.
 */
function mayMeetLimit(events: readonly IncomingEvent[], { warnings, profileCharacters }: Planned): boolean {
  const brought = events.reduce((sum, { propertiesText }) => sum + propertiesText.length, 0);
  return (
    profileCharacters + 2 * brought > MAX_PROFILE_CHARACTERS ||
    warnings.person_properties_size_violation !== undefined
  );
}
