import { type Manifest, manifestSchema } from '../../../config/manifest/manifest.ts';

const SUFFIX = '.rehearsal';
/** Of a manifest: see its schema. */
const NAME_MAX = 63;

/**
 * The same migration into the bundled API: without a destination, an approval, a limit of speed or a schedule, under
 * a name of its own. Held persons are sent, because there is nothing to wait for. `files`: paths of a sample that
 * takes the place of the source.
 */
export function toRehearsal(manifest: Manifest, files?: readonly string[]): Manifest {
  const { destination: _d, approval: _a, schedule: _s, limits, source, ...rest } = manifest;
  const { requestsInFlight, batch } = limits;
  return manifestSchema.parse({
    ...rest,
    name: manifest.name.slice(0, NAME_MAX - SUFFIX.length) + SUFFIX,
    source: files ? toSampled(source, files) : source,
    limits: { requestsInFlight, batch },
    persons: 'send',
  });
}

/** The text of a sample is UTF-8, whatever the encoding of the source. */
function toSampled(source: Manifest['source'], files: readonly string[]): object {
  const { encoding: _, ...rest } = { encoding: undefined, ...source };
  return { ...rest, from: files };
}
