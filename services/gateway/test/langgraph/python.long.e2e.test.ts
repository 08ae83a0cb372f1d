import { compareCodePoints } from '@stemma/canonical';
import { cacheFolder } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRecording } from '../recording/fixture.ts';

const PACKAGE = join(import.meta.dirname, '../../../../packages/agents/langgraph-python');
/** Made by `tests/run.py`; it stays in the cache of the tests. */
const ENVIRONMENT = join(cacheFolder(), 'langgraph-python');
const PYTHON = join(ENVIRONMENT, 'bin/python');
const INSTALLING = 900_000;

const run = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const options = { cwd: PACKAGE, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr } = await promisify(execFile)(program, [...args], options);
  return stdout + stderr;
};

let at: ReturnType<typeof openRecording>;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  at = openRecording();
  env = { STEMMA_URL: await at.serve(), PYTHONDONTWRITEBYTECODE: '1' };
});
afterEach(() => at.close());

describe('the saver for Python', () => {
  test('passes LangGraph’s checks of savers and its own tests', { timeout: INSTALLING }, async () => {
    mkdirSync(cacheFolder(), { recursive: true });
    const said = await run('python3', ['tests/run.py', '--environment', ENVIRONMENT], env);
    expect(said).toMatch(/\d+ passed/);
    expect(said).not.toMatch(/failed|error|skipped/);
  });

  test(
    'is built as wheel and sdist, and a wheel works where nothing else is',
    { timeout: INSTALLING },
    async () => {
      const out = join(at.directory, 'built');
      await run(PYTHON, ['-m', 'build', '--no-isolation', '--outdir', out], env);
      const built = readdirSync(out).sort(compareCodePoints);
      expect(built).toEqual(['stemma_langgraph-0.1.0-py3-none-any.whl', 'stemma_langgraph-0.1.0.tar.gz']);
      const environment = join(at.directory, 'environment');
      await run('python3', ['-m', 'venv', environment], env);
      const python = join(environment, 'bin/python');
      await run(
        python,
        ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', join(out, built[0] ?? '')],
        env,
      );
      const program = `
from langgraph.checkpoint.base import empty_checkpoint
from stemma_langgraph import StemmaSaver
config = {"configurable": {"thread_id": "built", "checkpoint_ns": ""}}
StemmaSaver().put(config, empty_checkpoint(), {"source": "input", "step": -1, "parents": {}}, {})
print(StemmaSaver().get_tuple(config).metadata["source"])
`;
      expect(await run(python, ['-c', program], env)).toBe('input\n');
    },
  );
});
