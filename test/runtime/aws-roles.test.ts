import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runBackhaul } from '../support/backhaul-process.ts';
import { createWorkplace } from '../support/workplace.ts';

/*
 * Without keys of its own Backhaul takes those of the role that a pod or task has, as the built command line, in
 * which the packages are bundled. Two servers stand for what gives the credentials, and one for S3.
 */

const workplace = createWorkplace();
const servers: Server[] = [];
/** Who signed the last request to S3, and with which token. */
let asked: { authorization: string; token: string } | undefined;
let s3 = '';
let credentials = '';
let sts = '';

async function listen(answer: (request: IncomingMessage) => [number, string, string]): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [status, type, body] = answer(request);
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const expires = '2099-01-01T00:00:00Z';

beforeAll(async () => {
  s3 = await listen(({ headers }) => {
    asked = {
      authorization: String(headers.authorization),
      token: String(headers['x-amz-security-token']),
    };
    const list =
      '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>';
    return [200, 'application/xml', list];
  });
  credentials = await listen(({ headers }) => {
    if (headers.authorization !== 'token of the pod') return [401, 'application/json', '{}'];
    const keys = { AccessKeyId: 'PODKEY', SecretAccessKey: 's', Token: 'pod-session', Expiration: expires };
    return [200, 'application/json', JSON.stringify(keys)];
  });
  sts = await listen(() => {
    const keys = `<AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>role-session</SessionToken><Expiration>${expires}</Expiration>`;
    const result = `<AssumeRoleWithWebIdentityResult><Credentials>${keys}</Credentials></AssumeRoleWithWebIdentityResult>`;
    const body = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`;
    return [200, 'text/xml', body];
  });
});
afterAll(async () => {
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
  await workplace.remove();
});

async function listMigrations(env: Readonly<Record<string, string>>) {
  asked = undefined;
  const ended = await runBackhaul(['status'], {
    dataDir: workplace.dataDir('roles'),
    env: {
      BACKHAUL_STAGING: 's3://bucket/staging',
      BACKHAUL_S3_ENDPOINT: s3,
      BACKHAUL_S3_REGION: 'eu-central-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      HOME: workplace.folder,
      ...env,
    },
  });
  expect(ended.code, ended.stderr).toBe(0);
  return asked;
}

const writeToken = (text: string): string => {
  const path = join(workplace.folder, 'token');
  writeFileSync(path, text);
  return path;
};

it('uses the role of a pod or task (Pod Identity, ECS)', async () => {
  const used = await listMigrations({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${credentials}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: writeToken('token of the pod'),
  });
  expect(used).toEqual({
    authorization: expect.stringMatching(/Credential=PODKEY\/\d+\/eu-central-1\/s3\//),
    token: 'pod-session',
  });
});

it('uses the role of a service account (IRSA)', async () => {
  const used = await listMigrations({
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/backhaul',
    AWS_WEB_IDENTITY_TOKEN_FILE: writeToken('token of the service account'),
    AWS_ENDPOINT_URL_STS: sts,
  });
  expect(used).toEqual({
    authorization: expect.stringMatching(/Credential=ROLEKEY\/\d+\/eu-central-1\/s3\//),
    token: 'role-session',
  });
});

it('prefers keys of its own', async () => {
  const used = await listMigrations({
    BACKHAUL_S3_ACCESS_KEY_ID: 'OWNKEY',
    BACKHAUL_S3_SECRET_ACCESS_KEY: 's',
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${credentials}/v1/credentials`,
  });
  expect(used).toMatchObject({ authorization: expect.stringContaining('Credential=OWNKEY/') });
});
