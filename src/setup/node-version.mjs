import { SetupError } from './setup-error.mjs';

const OLDEST = [20, 20, 0];

export function checkNodeVersion(version = process.versions.node) {
  const parts = version.split('.').map(Number);
  const differing = OLDEST.findIndex((number, place) => parts[place] !== number);
  if (differing === -1 || parts[differing] > OLDEST[differing]) return;
  throw new SetupError({
    what: `Node.js ${version} is too old.`,
    why: `Backhaul needs ${OLDEST.join('.')} or newer.`,
    mend: 'install a current Node.js: https://nodejs.org/en/download',
  });
}
