import { freePorts } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const runFile = promisify(execFile);

/** Set where a Docker engine answers and has the images (.ci/containers), else the reason why not. */
const skip =
  process.env['STEMMA_CONTAINERS'] === 'yes'
    ? undefined
    : (process.env['STEMMA_CONTAINERS_SKIP'] ?? 'no Docker engine with images: STEMMA_CONTAINERS=yes');

/** Who runs, and where each says how it is. */
const DOORS: Readonly<Record<string, string>> = {
  gateway: 'STEMMA_PORT',
  projector: 'PROJECTOR_PORT',
  relay: 'RELAY_PORT',
};
const PORTS = ['KAFKA_PORT', 'KAFKA_CONTROLLER_PORT', 'POSTGRES_PORT', ...Object.values(DOORS)];

const project = `stemma-test-${process.pid}`;
const ports: Record<string, string> = {};
const docker = async (...args: string[]): Promise<string> =>
  (await runFile('docker', args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
/** `docker compose`, or the older program of that name. */
const compose = async (...args: string[]): Promise<string> => {
  const all = ['-p', project, '-f', join(root, 'infra/compose.yaml'), '--profile', 'relay', ...args];
  const options = { env: { ...process.env, ...ports }, maxBuffer: 64 * 1024 * 1024 };
  const plugin = await docker('compose', 'version').then(
    () => true,
    () => false,
  );
  const [program, first] = plugin ? ['docker', ['compose']] : ['docker-compose', []];
  return (await runFile(program, [...first, ...all], options)).stdout;
};
const containers = async (): Promise<readonly { name: string; id: string }[]> =>
  Promise.all(
    (await docker('ps', '-aq', '--filter', `label=com.docker.compose.project=${project}`))
      .split('\n')
      .filter((id) => id !== '')
      .map(async (id) => ({
        id,
        name: await docker('inspect', '-f', '{{index .Config.Labels "com.docker.compose.service"}}', id),
      })),
  );
const url = (service: string, path: string): string =>
  `http://127.0.0.1:${ports[DOORS[service] ?? ''] ?? ''}${path}`;

const inContainers = (): void => {
  beforeAll(async () => {
    for (const name of PORTS) ports[name] = String((await freePorts()).broker);
    await compose('up', '-d', '--no-build');
  }, 600_000);
  afterAll(async () => {
    await compose('down', '-v', '-t', '5');
  }, 600_000);

  it('becomes healthy as a whole, runs nothing as root, and each service reports its health', async () => {
    const all = await containers();
    expect(new Set(all.map(({ name }) => name))).toEqual(
      new Set(['broker', 'postgres', ...Object.keys(DOORS)]),
    );
    for (const { id, name } of all) {
      const health = await healthOf(id);
      expect([name, health, health === 'healthy' ? '' : await docker('logs', '--tail', '30', id)]).toEqual([
        name,
        'healthy',
        '',
      ]);
      const status = await docker('exec', id, 'bash', '-c', 'cat /proc/1/status');
      expect([name, /^Uid:\s+0\b/m.test(status)]).toEqual([name, false]);
    }
    for (const service of Object.keys(DOORS)) {
      for (const path of ['/health/live', '/health/ready'])
        expect([service, path, (await fetch(url(service, path))).status]).toEqual([service, path, 200]);
      expect(await (await fetch(url(service, '/metrics'))).text()).toContain('stemma_service_info');
    }
  }, 900_000);

  it('the gateway records a command, and the next read shows it; on SIGTERM every service ends cleanly', async () => {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(url('gateway', path), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const started = await post('/api/histories', { id: 's', recorder: 'test', name: 'desk' });
    expect([started.status, await started.text()]).toMatchObject([
      201,
      expect.stringContaining('HistoryStarted'),
    ]);
    const steps = [{ op: 'inject', text: 'hello from a container' }];
    const injected = await post('/api/histories/desk/commands', { id: 'i', actor: 'Ada', steps });
    expect([injected.ok, await injected.text()]).toMatchObject([true, expect.stringContaining('hello from')]);
    const thread = await fetch(url('gateway', '/api/histories/desk/thread'));
    expect([thread.status, await thread.text()]).toMatchObject([200, expect.stringContaining('hello from')]);
    expect(await (await fetch(url('gateway', '/metrics'))).text()).toContain(
      'stemma_frames_appended_total 2\n',
    );

    await compose('stop', '-t', '60', ...Object.keys(DOORS));
    for (const { id, name } of await containers())
      if (name in DOORS)
        expect([name, await docker('inspect', '-f', '{{.State.ExitCode}}', id)]).toEqual([name, '0']);
  }, 600_000);
};

/** The health of a container when it has one, at last after ten minutes. */
const healthOf = async (id: string): Promise<string> => {
  for (const until = Date.now() + 600_000; ;) {
    const health = await docker('inspect', '-f', '{{.State.Health.Status}}', id);
    if (health === 'healthy' || Date.now() > until) return health;
    await sleep(500);
  }
};

describe('the system in containers', () => {
  if (skip === undefined) inContainers();
  else it('becomes healthy as a whole', (test) => test.skip(skip));
});
