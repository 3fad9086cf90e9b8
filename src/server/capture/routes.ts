import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { loadProjectByKey } from '../auth/projects.ts';
import type { Db } from '../database/db.ts';
import { createDefinedNames, type DefinedNames } from '../definitions/defined-names.ts';
import { allowOrigin } from '../http/cors.ts';
import { type Api, addPublicRoute } from '../routing/route.ts';
import { createAdmission } from './admission.ts';
import { describeIngest } from './describe-ingest.ts';
import { ingest } from './ingest/ingest.ts';
import { MAX_AT_WORK, MAX_HELD_BYTES } from './limits.ts';
import { unauthorised } from './refusal.ts';
import { decodeBody } from './request/decode.ts';
import { parseEvents, parsePayload } from './request/parse.ts';
import { findProjectKey } from './request/project-key.ts';
import type { GetSender } from './request/sender.ts';

/**
 * The endpoints of ingestion: a request in any shape and encoding on any of these paths, with the project key
 * inside. The response is `{"status": 1}` once everything is committed, or an error and nothing is stored.
 */
const PATHS = ['/batch/', '/capture/', '/e/', '/track/', '/engage/', '/i/v0/e/'];

interface IngestDeps {
  readonly db: Db;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly getSender: GetSender;
}

const ACCEPTED = { status: 1 };

export function addIngestRoutes(api: Api, deps: IngestDeps): void {
  describeIngest(api);
  const defined = createDefinedNames(deps.now);
  const admission = createAdmission({ heldBytes: MAX_HELD_BYTES, atWork: MAX_AT_WORK });
  for (const path of PATHS) {
    api.app.use(path, async (c, next) => {
      allowOrigin(c);
      await next();
    });
    const access = { path, public: 'the project key in the body' };
    addPublicRoute(api, { ...access, methods: ['OPTIONS'] }, (c) => c.json(ACCEPTED));
    addPublicRoute(api, { ...access, methods: ['POST', 'GET'] }, async (c) => {
      const defaultEvent = path === '/engage/' ? '$identify' : undefined;
      await admission.admit(c.req.raw, (bytes) =>
        ingestRequest(c, bytes, { ...deps, defined }, defaultEvent),
      );
      return c.json(ACCEPTED);
    });
  }
}

/** Decode, parse, find the project, name, store: ARCHITECTURE.md has the walk. */
async function ingestRequest(
  c: Context,
  bytes: Buffer,
  { db, log, now, getSender, defined }: IngestDeps & { readonly defined: DefinedNames },
  defaultEvent: string | undefined,
): Promise<void> {
  const body = await decodeBody({
    bytes,
    contentType: c.req.header('content-type') ?? '',
    contentEncoding: c.req.header('content-encoding') ?? '',
    compression: c.req.query('compression'),
    data: c.req.query('data'),
  });
  const payload = parsePayload(body.json);
  const project = await loadProjectByKey(db, findProjectKey(body.projectKey, payload.value));
  if (project === undefined) {
    throw unauthorised(
      'invalid_api_key',
      'Project API key invalid. It stands in the settings of the project.',
    );
  }
  const { events, warnings } = parseEvents(payload, {
    nowMs: now(),
    sentAt: c.req.query('_') ?? body.sentAt,
    defaultEvent,
    ip: getSender(c),
    projectUuid: project.uuid,
    createUuid: randomUUID,
  });
  const result = await ingest(db, project.id, events, defined.forProject(project));
  const allWarnings = { ...warnings, ...result.warnings };
  if (Object.keys(allWarnings).length > 0) {
    log.warn({ project: project.id, warnings: allWarnings }, 'events with warnings');
  }
  log.debug({ project: project.id, stored: result.stored, repeated: result.repeated }, 'request ingested');
}
