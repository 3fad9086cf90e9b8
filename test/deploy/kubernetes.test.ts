import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadSettings } from '../../config/load-settings.ts';
import { listSettingFields } from '../../config/settings.ts';
import { declareRoutes } from '../../src/server/app.ts';
import type { Db } from '../../src/server/database/db.ts';
import { readText } from '../support/compose.ts';
import { parseCommand } from '../support/parse-command.ts';
import { silent } from '../support/silent.ts';

const FOLDER = 'deploy/kubernetes';
const names = z.record(z.string(), z.string());
const objectShape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }).optional(),
});
type KubernetesObject = z.infer<typeof objectShape>;

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
const readObjects = (file: string): KubernetesObject[] =>
  parseAllDocuments(readText(`${FOLDER}/${file}`), { version: '1.2' }).map((document) => {
    expect([file, document.errors]).toEqual([file, []]);
    return objectShape.parse(document.toJS());
  });
const all = files.flatMap((file) => readObjects(file).map((object) => ({ file, object })));
const objects = all.map(({ object }) => object);

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })),
  env: z.array(
    z.strictObject({
      name: z.string(),
      value: z.string().optional(),
      valueFrom: z
        .strictObject({
          secretKeyRef: z.strictObject({
            name: z.literal('backhaul'),
            key: z.string(),
            optional: z.literal(true).optional(),
          }),
        })
        .optional(),
    }),
  ),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.number() })).default([]),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});
const workload = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.object({ name: z.string() }) })).default([]),
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.array(container).length(1),
        volumes: z.array(z.looseObject({ name: z.string() })),
        terminationGracePeriodSeconds: z.number(),
      }),
    }),
  }),
});
const workloads = objects
  .filter(({ kind }) => ['StatefulSet', 'Deployment', 'Job'].includes(kind))
  .map((object) => workload.parse(object));

/** Where kubernetes-types, which is made of the OpenAPI document of Kubernetes, declares a kind. */
const MODULES: Readonly<Record<string, string>> = { v1: 'core/v1', 'networking.k8s.io/v1': 'networking/v1' };

test('the objects are those of Kubernetes: no field that it does not know, none missing, each of its type', () => {
  const known = objects.filter(({ apiVersion }) => !/^(keda\.sh|kustomize)/.test(apiVersion));
  expect(known.length).toBeGreaterThan(8);
  const cache = join(process.cwd(), 'node_modules/.cache/backhaul');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'kubernetes-'));
  try {
    const lines = known.flatMap((object, index) => [
      `import type { ${object.kind} as Kind${index} } from 'kubernetes-types/${MODULES[object.apiVersion] ?? object.apiVersion}';`,
      `export const object${index}: Kind${index} = ${JSON.stringify(object)};`,
    ]);
    const compilerOptions = { noEmit: true, strict: true, module: 'preserve', types: [], target: 'es2022' };
    writeFileSync(join(folder, 'objects.ts'), lines.join('\n'));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.ts'] }));
    const tsc = join(process.cwd(), 'node_modules/typescript/bin/tsc');
    try {
      execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'pipe' });
    } catch (error) {
      throw new Error(`not objects of Kubernetes:\n${String((error as { stdout?: unknown }).stdout)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const find = (kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata?.name === name);

describe('the autoscaler', () => {
  /** The fields that are used, as https://keda.sh/docs/latest/reference/scaledobject-spec/ has them. */
  const scaledObject = z.strictObject({
    apiVersion: z.literal('keda.sh/v1alpha1'),
    kind: z.literal('ScaledObject'),
    metadata: z.strictObject({ name: z.string(), namespace: z.literal('backhaul') }),
    spec: z.strictObject({
      scaleTargetRef: z.strictObject({ name: z.string() }),
      minReplicaCount: z.int().min(0),
      maxReplicaCount: z.int().min(2),
      pollingInterval: z.int().positive(),
      cooldownPeriod: z.int().positive(),
      fallback: z.strictObject({ failureThreshold: z.int(), replicas: z.int() }),
      triggers: z.tuple([
        z.strictObject({
          type: z.literal('metrics-api'),
          metadata: z.strictObject({
            url: z.url(),
            valueLocation: z.string(),
            targetValue: z.string().regex(/^\d+$/),
            authMode: z.literal('basic'),
          }),
          authenticationRef: z.strictObject({ name: z.string() }),
        }),
      ]),
    }),
  });
  const authentication = z.strictObject({
    apiVersion: z.literal('keda.sh/v1alpha1'),
    kind: z.literal('TriggerAuthentication'),
    metadata: z.strictObject({ name: z.string(), namespace: z.literal('backhaul') }),
    spec: z.strictObject({
      secretTargetRef: z.array(
        z.strictObject({ parameter: z.string(), name: z.literal('backhaul'), key: z.string() }),
      ),
    }),
  });
  const { spec } = scaledObject.parse(find('ScaledObject', 'worker'));
  const [{ metadata, authenticationRef }] = spec.triggers;

  test('scales a Deployment that says no number of its own, by a count that the server has', () => {
    expect(workload.parse(find('Deployment', spec.scaleTargetRef.name)).spec['replicas']).toBeUndefined();
    const url = new URL(metadata.url);
    const service = z
      .looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })) }) })
      .parse(find('Service', url.hostname.split('.')[0] ?? ''));
    expect([url.hostname, service.spec.ports.map(({ port }) => String(port))]).toEqual([
      'api.backhaul.svc.cluster.local',
      [url.port],
    ]);
    expect(listServerPaths()).toContain(`GET ${url.pathname}`);
    expect(metadata.valueLocation).toBe('open'); // test/server/operations/operations.test.ts has its answer
  });

  test('has the user and the password of the pages', () => {
    const { secretTargetRef } = authentication.parse(
      find('TriggerAuthentication', authenticationRef.name),
    ).spec;
    expect(Object.fromEntries(secretTargetRef.map(({ parameter, key }) => [parameter, key]))).toEqual({
      username: 'BACKHAUL_QUEUES_USER',
      password: 'BACKHAUL_QUEUES_PASSWORD',
    });
  });
});

function listServerPaths(): string[] {
  const operations = { credentials: {}, producers: {}, store: {}, checks: {} } as never;
  const db = { kind: 'pglite', watch: () => () => 0 } as unknown as Db;
  return [...declareRoutes({ db, log: silent, operations }).access.keys()];
}

const SAMPLES: Readonly<Record<string, string>> = {
  REDIS_URL: 'rediss://:secret@queue.example.com:6379',
  DATABASE_URL: 'postgres://backhaul:secret@database.example.com/backhaul',
  BACKHAUL_WEBHOOK_URL: 'https://chat.example.com/hook',
  BACKHAUL_WEBHOOK_SECRET: `whsec_${'s'.repeat(32)}`,
};
/** `optional`: whether the Secret has the keys that it may lack. */
const toEnvironment = (
  { envFrom, env }: z.infer<typeof container>,
  { optional = true } = {},
): Record<string, string> => {
  const maps = envFrom.map(({ configMapRef }) =>
    z.looseObject({ data: names }).parse(find('ConfigMap', configMapRef.name)),
  );
  const own = env
    .filter(({ valueFrom }) => optional || valueFrom?.secretKeyRef.optional !== true)
    .map(({ name, value }) => [name, value ?? SAMPLES[name] ?? `secret of ${name}`]);
  return { ...Object.assign({}, ...maps.map(({ data }) => data)), ...Object.fromEntries(own) };
};

describe.each(workloads.map((one) => [one.metadata.name, one] as const))('%s', (_, { spec }) => {
  const { template, volumeClaimTemplates } = spec;
  const pod = template.spec;
  const [main] = pod.containers;
  if (main === undefined) throw new Error('no container');

  test('has only settings that there are, with values that they take', () => {
    const env = toEnvironment(main);
    const known = new Set(listSettingFields().map((field) => field.env));
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
    const settings = loadSettings(env, '/');
    expect(settings).toMatchObject({ dataDir: '/data', redisUrl: SAMPLES['REDIS_URL'] });
    expect(settings.s3.accessKeyId).toBeUndefined(); // the role of the pod
    const secret = new Set(listSettingFields().flatMap((field) => (field.secret ? [field.env] : [])));
    for (const { name, value } of main.env)
      if (secret.has(name)) expect([name, value]).toEqual([name, undefined]);
  });

  test('tells somebody where the Secret says whom, and starts where it does not', () => {
    expect(loadSettings(toEnvironment(main), '/').webhook).toMatchObject({
      url: SAMPLES['BACKHAUL_WEBHOOK_URL'],
      secret: SAMPLES['BACKHAUL_WEBHOOK_SECRET'],
    });
    expect(loadSettings(toEnvironment(main, { optional: false }), '/').webhook.url).toBeUndefined();
  });

  test('runs a command that there is', () => {
    expect(main.args.length).toBeGreaterThan(0);
    expect(parseCommand(main.args)).toBe('parsed');
  });

  test('is not root, has no rights, and writes to nothing but its volumes', () => {
    expect(pod['securityContext']).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(main['securityContext']).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod['automountServiceAccountToken']).toBe(false);
    expect(readText('Dockerfile')).toContain('USER 1000:1000');
    const mounted = main.volumeMounts.map(({ mountPath }) => mountPath);
    expect(mounted).toEqual(expect.arrayContaining(['/data', '/tmp']));
    const volumes = [...pod.volumes, ...volumeClaimTemplates.map(({ metadata }) => metadata)];
    expect(new Set(main.volumeMounts.map(({ name }) => name))).toEqual(
      new Set(volumes.map(({ name }) => name)),
    );
  });

  test('has time to save before it is ended', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30);
  });
});

test('probes ask for what the port answers; none restarts a pod for what it waits for', () => {
  const probe = z.looseObject({
    httpGet: z.strictObject({ path: z.string(), port: z.string() }).optional(),
    tcpSocket: z.strictObject({ port: z.string() }).optional(),
  });
  for (const { metadata, spec } of workloads) {
    const [main] = spec.template.spec.containers;
    if (main === undefined || metadata.name === 'migration') continue;
    const { host, port, workerPort } = loadSettings(toEnvironment(main), '/');
    expect([host, main.ports.map(({ containerPort }) => containerPort)]).toEqual([
      '0.0.0.0',
      [metadata.name === 'worker' ? workerPort : port],
    ]);
    for (const kind of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { httpGet, tcpSocket } = probe.parse(main[kind]);
      expect(main.ports.map(({ name }) => name)).toContain((httpGet ?? tcpSocket)?.port);
      if (kind === 'readinessProbe') expect(httpGet?.path).toBe('/readyz');
      // /healthz of the API asks the database; that of a worker asks nothing.
      else expect(httpGet?.path).toBe(metadata.name === 'worker' ? '/healthz' : undefined);
    }
  }
});

test('every object is in the namespace, and in the kustomization or applied for each migration', () => {
  const kustomization = z
    .looseObject({
      namespace: z.string(),
      resources: z.array(z.string()),
      images: z.tuple([z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })]),
    })
    .parse(objects.find(({ kind }) => kind === 'Kustomization'));
  expect(new Set(kustomization.resources)).toEqual(
    new Set(files.filter((file) => !['kustomization.yaml', 'migration.yaml'].includes(file))),
  );
  for (const { kind, metadata } of objects)
    if (!['Kustomization', 'Namespace'].includes(kind))
      expect(metadata?.namespace).toBe(kustomization.namespace);

  const [{ name, newName, newTag }] = kustomization.images;
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readText('package.json')));
  expect(newTag).toBe(version);
  for (const { metadata, spec } of workloads)
    expect(spec.template.spec.containers[0]?.image).toBe(
      metadata.name === 'migration' ? `${newName}:${newTag}` : name,
    );
});

test('the network denies what it does not name, to every pod', () => {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  expect(policies).toContainEqual(
    expect.objectContaining({ podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [] }),
  );
});

test('the guide creates the Secret with every key that it must have, names the others, and has no other', () => {
  const used = [...JSON.stringify(objects).matchAll(/"name":"backhaul","key":"(\w+)"(,"optional":true)?/g)];
  const guide = readText('docs/deployment.md');
  const created = [...guide.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key);
  const needed = used.flatMap(([, key, optional]) => (optional ? [] : [key]));
  expect(needed.length).toBeGreaterThan(5);
  expect(new Set(created)).toEqual(new Set(needed));
  const rest = used.flatMap(([, key, optional]) => (optional ? [key] : []));
  expect(new Set(rest)).toEqual(new Set(['BACKHAUL_WEBHOOK_URL', 'BACKHAUL_WEBHOOK_SECRET']));
  const kubernetes = guide.slice(guide.indexOf('## Kubernetes'));
  for (const key of rest) expect(kubernetes).toContain(`\`${key}\``);
});
