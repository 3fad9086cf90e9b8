import { readText } from './compose.ts';

/** The lines of all `sh` blocks of docs/deployment.md, also of those in lists; what ends in a backslash is joined. */
export const listGuideCommands = (): string[] =>
  [
    ...readText('docs/deployment.md')
      .replaceAll(/\\\n\s+/g, '')
      .matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm),
  ]
    .flatMap(([, block = '']) => block.split('\n').map((line) => line.trim()))
    .filter(Boolean);

export const isSetting = (line: string): boolean => /^[A-Z]\w*=/.test(line);

/** The variable that a line exports. */
export const getExported = (line: string): string | undefined => /^export ([A-Z]\w*)=/.exec(line)?.[1];

/** The words behind `backhaul`, in a container or not; undefined for other programs. */
export const getBackhaul = (line: string): string | undefined =>
  /^(?:docker compose run --rm worker|npx backhaul|backhaul) (.+)$/.exec(line)?.[1];

/** Lines that put a file of deploy/ in its place on a server. */
export const isInstall = (line: string): boolean => line.startsWith('sudo install ');

/**
 * Of the guide, what needs Docker, a cluster, or systemd as root, and runs in no test; a script that
 * test/deploy/compose.test.ts runs; and the two lines that test/e2e/packed.test.ts runs.
 */
export const NOT_RUN: readonly string[] = [
  'sh deploy/make-env.sh',
  'docker compose up --detach --wait',
  'npm pack',
  'sudo npm install --global --prefix /opt/backhaul ./backhaul-0.1.0.tgz',
  'sudo useradd --system --home-dir /var/lib/backhaul backhaul',
  'sudo systemctl daemon-reload',
  'sudo systemctl enable --now backhaul-serve backhaul-worker@1 backhaul-worker@2',
  'kubectl apply --filename deploy/kubernetes/namespace.yaml',
  'kubectl create secret generic backhaul',
  'kubectl apply --kustomize deploy/kubernetes',
  'kubectl apply --filename deploy/kubernetes/migration.yaml',
  'kubectl --namespace backhaul logs --follow job/migration',
  'kubectl --namespace backhaul port-forward service/api 8000',
];
