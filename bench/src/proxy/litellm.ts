import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Newer ones want a package for their proxy that PyPI does not have. */
export const LITELLM = '1.106.12';

/** LiteLLM's proxy in front of an upstream, or why there is none. */
export type Litellm =
  | { readonly url: string; readonly key: string; readonly end: () => Promise<void> }
  | { readonly missing: string };

/** Known keys are refused. */
const KEY = `sk-${randomBytes(16).toString('hex')}`;

/** Where it is installed: beside the scratch files of the benchmarks. */
const FOLDER = fileURLToPath(new URL(`../../node_modules/.cache/litellm-${LITELLM}`, import.meta.url));

/** Starts it with one worker and no database, as its documentation does, and waits until it answers. */
export const startLitellm = async (upstream: string, directory: string): Promise<Litellm> => {
  const program = join(FOLDER, 'bin/litellm');
  try {
    if (!existsSync(join(FOLDER, 'installed'))) install();
  } catch (error) {
    return { missing: `LiteLLM cannot be installed: ${String(error).split('\n')[0] ?? ''}` };
  }
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'litellm.yaml');
  writeFileSync(
    config,
    `model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_base: ${upstream}/v1, api_key: sk-upstream }
general_settings: { master_key: ${KEY} }
`,
  );
  const port = await freePort();
  const child = spawn(program, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    cwd: directory,
    env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (const until = performance.now() + 180_000; performance.now() < until;) {
    await sleep(200);
    if (child.exitCode !== null) return { missing: `LiteLLM ended with ${child.exitCode}` };
    const answer = await fetch(`${url}/health/liveliness`).catch(() => undefined);
    if (answer?.ok === true) return { url, key: KEY, end: () => endOf(child) };
  }
  await endOf(child);
  return { missing: 'LiteLLM did not answer in three minutes' };
};

const install = (): void => {
  process.stderr.write(`bench: installing litellm[proxy] ${LITELLM} …\n`);
  execFileSync('python3', ['-m', 'venv', FOLDER], { stdio: ['ignore', 2, 2] });
  const packages = ['--quiet', '--disable-pip-version-check', `litellm[proxy]==${LITELLM}`];
  execFileSync(join(FOLDER, 'bin/python'), ['-m', 'pip', 'install', ...packages], {
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(join(FOLDER, 'installed'), '');
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const endOf = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
};
