import type { Context } from 'hono';
import { createAdmission } from '../../capture/admission.ts';
import { MAX_HELD_BYTES } from '../../capture/limits.ts';
import { decodeBody } from '../../capture/request/decode.ts';
import { parseBody } from '../../capture/request/parse.ts';
import { findProjectKey } from '../../capture/request/project-key.ts';
import { findFirstAddress, type GetSender } from '../../capture/request/sender.ts';
import { allowOrigin } from '../../http/cors.ts';
import { type Api, addPublicRoute } from '../../routing/route.ts';
import { refuseManyNames } from './body-bounds.ts';
import type { Decider } from './decide.ts';
import { describeDecide } from './describe-decide.ts';
import type { Locations } from './location.ts';
import { MAX_TOGETHER } from './lookup.ts';
import { toQuestionKey } from './question.ts';
import { type DecideRequest, parseDecideRequest, parseVersion } from './request.ts';
import { type DecideVersion, renderConfig, renderDecisions } from './response.ts';

interface DecideDeps {
  readonly decider: Decider;
  readonly getSender: GetSender;
  /** @default the place of no address is known */
  readonly locations: Locations | undefined;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Where clients ask, and the shape of the answer that a client without a version wants. */
const PATHS = [
  { path: '/decide', toVersion: parseVersion },
  // Newer clients count versions from 1 again: their 2 is the fourth shape.
  { path: '/flags/', toVersion: (text: string | undefined): DecideVersion => (text === '1' ? 3 : 4) },
] as const;

/** The decision endpoint: which flags somebody has. */
export function addDecideRoutes(api: Api, deps: DecideDeps): void {
  describeDecide(api);
  const admission = createAdmission({ heldBytes: MAX_HELD_BYTES, atWork: MAX_TOGETHER });
  for (const { path, toVersion } of PATHS) {
    api.app.use(path, async (c, next) => {
      allowOrigin(c);
      await next();
    });
    const access = { path, public: 'the project key in the body' };
    addPublicRoute(api, { ...access, methods: ['OPTIONS'] }, (c) => c.json({ status: 1 }));
    addPublicRoute(api, { ...access, methods: ['GET'] }, (c) => c.json(renderConfig(1, [])));
    addPublicRoute(api, { ...access, methods: ['POST'] }, (c) =>
      admission.admit(c, (bytes) => answer(c, bytes, toVersion(c.req.query('v')), deps)),
    );
  }
}

async function answer(
  c: Context,
  bytes: Buffer,
  version: DecideVersion,
  deps: DecideDeps,
): Promise<Response> {
  const encoded = {
    bytes,
    contentType: c.req.header('content-type') ?? '',
    contentEncoding: c.req.header('content-encoding') ?? '',
    compression: c.req.query('compression'),
    data: c.req.query('data'),
  };
  const { decider, locations } = deps;
  const address = locations === undefined ? undefined : findAddress(c, deps);
  const question = toQuestionKey({ ...encoded, version, address });
  const known = question === undefined ? undefined : decider.answers.find(question);
  if (known !== undefined) return c.body(known, 200, JSON_TYPE);

  const keep = decider.answers.begin();
  const body = await decodeBody(encoded);
  refuseManyNames(body.json);
  const payload = parseBody(body.json);
  const projectKey = findProjectKey(body.projectKey, payload);
  const request = parseDecideRequest(payload);
  if (!isAboutSomebody(request)) {
    await decider.check(projectKey);
    return c.json(renderConfig(version));
  }
  const location = request.usesLocation && address !== undefined ? (locations?.(address) ?? {}) : {};
  const { project, decisions, lasts } = await decider.decide(projectKey, request, location);
  const text = renderDecisions(version, decisions, project.compiled);
  if (question !== undefined && lasts) keep(question, text, text.length);
  return c.body(text, 200, JSON_TYPE);
}

/** The contract names a header by which servers pass on the address of their visitor. */
const findAddress = (c: Context, { getSender }: DecideDeps): string | undefined =>
  findFirstAddress(c.req.header('http_x_forwarded_for') ?? '') ?? getSender(c);

function isAboutSomebody(request: DecideRequest): request is DecideRequest & { readonly distinctId: string } {
  return !request.disabled && request.distinctId !== undefined;
}
