import type { Context } from 'hono';
import { allowOrigin } from '../http/cors.ts';
import { type Api, addPublicRoute } from '../routing/route.ts';
import { createAdmission } from './admission.ts';
import { describeIngest } from './describe-ingest.ts';
import { createRequestIngest, type IngestDeps } from './ingest-request.ts';
import { MAX_AT_WORK, MAX_HELD_BYTES, MAX_SMALL_AT_WORK } from './limits.ts';
import { type DecodedBody, decodeBody, isSmall } from './request/decode.ts';

/**
 * The endpoints of ingestion: a request in any shape and encoding on any of these paths, with the project key
 * inside. The response is `{"status": 1}` once everything is committed, or an error and nothing is stored.
 */
const PATHS = ['/batch/', '/capture/', '/e/', '/track/', '/engage/', '/i/v0/e/'];

const ACCEPTED = JSON.stringify({ status: 1 });
const JSON_TYPE = { 'content-type': 'application/json' };

export function addIngestRoutes(api: Api, deps: IngestDeps): void {
  describeIngest(api);
  const ingestRequest = createRequestIngest(deps);
  const admission = createAdmission({
    heldBytes: MAX_HELD_BYTES,
    atWork: MAX_AT_WORK,
    smallAtWork: MAX_SMALL_AT_WORK,
  });
  for (const path of PATHS) {
    api.app.use(path, (c, next) => {
      allowOrigin(c);
      return next();
    });
    const access = { path, public: 'the project key in the body' };
    addPublicRoute(api, { ...access, methods: ['OPTIONS'] }, (c) => accept(c));
    addPublicRoute(api, { ...access, methods: ['POST', 'GET'] }, async (c) => {
      const defaultEvent = path === '/engage/' ? '$identify' : undefined;
      await admission.admitDecoded(c, {
        decode: (bytes) => decodeRequest(c, bytes),
        isSmall,
        work: (body) => ingestRequest({ c, body, defaultEvent }),
      });
      return accept(c);
    });
  }
}

const accept = (c: Context) => c.body(ACCEPTED, 200, JSON_TYPE);

function decodeRequest(c: Context, bytes: Buffer): Promise<DecodedBody> {
  return decodeBody({
    bytes,
    contentType: c.req.header('content-type') ?? '',
    contentEncoding: c.req.header('content-encoding') ?? '',
    compression: c.req.query('compression'),
    data: c.req.query('data'),
  });
}
