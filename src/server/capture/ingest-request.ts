import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { loadProjectByKey, type Project } from '../auth/projects.ts';
import type { Db } from '../database/db.ts';
import { createDefinedNames } from '../definitions/defined-names.ts';
import { type Ingested, ingest } from './ingest/ingest.ts';
import {
  createIngestTogether,
  isSameProject,
  maySharePlace,
  ProjectChanged,
} from './ingest/ingest-together.ts';
import { unknownProjectKey } from './refusal.ts';
import { type DecodedBody, isSmall } from './request/decode.ts';
import { type ParsedEvents, parseEvents, parsePayload } from './request/parse.ts';
import { findProjectKey } from './request/project-key.ts';
import type { GetSender } from './request/sender.ts';

export interface IngestDeps {
  readonly db: Db;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly getSender: GetSender;
}

interface DecodedRequest {
  readonly c: Context;
  readonly body: DecodedBody;
  /** Name of events that have none. */
  readonly defaultEvent: string | undefined;
}

/**
 * Parse, find the project, name, store: ARCHITECTURE.md has the walk.
 *
 * The project is looked up at every request, so that a key that was replaced stops working at once. A small
 * request is parsed for the project that its key had last, and its transaction looks up whether it still has:
 * so requests that share the transaction share the lookup.
 */
export function createRequestIngest({ db, log, now, getSender }: IngestDeps) {
  const defined = createDefinedNames(now);
  const recent = createRecentProjects();

  function logWarnings(project: Project, warnings: Readonly<Record<string, number>>): void {
    if (Object.keys(warnings).length > 0) {
      log.warn({ project: project.id, warnings }, 'events with warnings');
    }
  }

  function logIngested(project: Project, { stored, repeated, warnings }: Ingested): void {
    logWarnings(project, warnings);
    log.debug({ project: project.id, stored, repeated }, 'events ingested');
  }

  const together = createIngestTogether({ db, defined, onIngested: logIngested });

  async function store(project: Project, { events, warnings }: ParsedEvents): Promise<void> {
    if (maySharePlace(events)) await together.ingest(project, events);
    else logIngested(project, await ingest(db, project.id, events, defined.forProject(project)));
    logWarnings(project, warnings);
  }

  return async ({ c, body, defaultEvent }: DecodedRequest): Promise<void> => {
    const payload = parsePayload(body.json);
    const key = findProjectKey(body.projectKey, payload.value);
    const parseFor = (project: Project) =>
      parseEvents(payload, {
        nowMs: now(),
        sentAt: c.req.query('_') ?? body.sentAt,
        defaultEvent,
        ip: getSender(c),
        projectUuid: project.uuid,
        createUuid: randomUUID,
      });

    const expected = isSmall(body) ? recent.find(key) : undefined;
    const early = expected && tryTo(() => parseFor(expected));
    if (expected !== undefined && early !== undefined && maySharePlace(early.events)) {
      if (await store(expected, early).then(() => true, ignoreChange)) return;
    }
    const project = await loadProjectByKey(db, key);
    if (project === undefined) throw unknownProjectKey();
    recent.remember(project);
    const parsed = early !== undefined && isSameProject(expected, project) ? early : parseFor(project);
    await store(project, parsed).catch((error: unknown) => {
      throw error instanceof ProjectChanged ? unknownProjectKey() : error;
    });
  };
}

/** Undefined when it throws: what is wrong with a request is said only to who has a valid key. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function ignoreChange(error: unknown): false {
  if (error instanceof ProjectChanged) return false;
  throw error;
}

const MAX_RECENT = 1000;

/** The project that a key had last. */
function createRecentProjects() {
  const projects = new Map<string, Project>();
  return {
    find: (key: string) => projects.get(key),
    remember(project: Project): void {
      if (projects.size >= MAX_RECENT) projects.clear();
      projects.set(project.projectKey, project);
    },
  };
}
