import { SetupError } from './setup-error.mjs';

const OLDEST = [20, 20, 0];

export function checkNodeVersion(version = process.versions.node) {
  const parts = version.split('.').map(Number);
  const firstDifference = OLDEST.findIndex((number, index) => parts[index] !== number);
  if (firstDifference === -1 || parts[firstDifference] > OLDEST[firstDifference]) return;
  throw new SetupError({
    what: `Node.js ${version} is too old.`,
    why: `Backhaul needs ${OLDEST.join('.')} or newer.`,
    fix: 'install a current Node.js: https://nodejs.org/en/download',
  });
}
