import { compareCodePoints } from '@stemma/canonical';
import { cacheFolder, sendAnswer, type ScriptedModels } from '@stemma/test-kit';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRecording } from './fixture.ts';

const PACKAGE = join(import.meta.dirname, '../../../../packages/agents/recorder-python');
/** Made by `tests/run.py`; it stays in the cache of the tests. */
const ENVIRONMENT = join(cacheFolder(), 'recorder-python');
const PYTHON = join(ENVIRONMENT, 'bin/python');
const INSTALLING = 900_000;

const run = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> => {
  const options = { cwd: PACKAGE, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr } = await promisify(execFile)(program, [...args], options);
  return stdout + stderr;
};

/** An agent as a person writes it. */
const AGENT = `
import sys
from openai import OpenAI
from stemma_recorder import record, status, flush
client = record(OpenAI(api_key="sk-proj-0penA1testKey", base_url=sys.argv[1] + "/v1"), history="python")
messages = [{"role": "user", "content": "Grüße"}]
for _ in range(2):
    answer = client.chat.completions.create(model="m-1", messages=messages)
    messages += [answer.choices[0].message, {"role": "user", "content": "More"}]
assert sys.argv[2] == "end" or not flush(0.01)
print("done", flush=True)
if sys.argv[2] != "end":
    sys.stdin.read()
`;

let at: ReturnType<typeof openRecording>;
let models: ScriptedModels;
beforeEach(async () => {
  at = openRecording();
  models = await at.provide((call, _, outgoing) => sendAnswer(call, outgoing, { text: 'Yes.' }));
});
afterEach(() => at.close());

describe('the recorder for Python', () => {
  test(
    'passes its own tests: clients, faults, processes',
    { tags: ['calls§7.4', 'calls§7.5'], timeout: INSTALLING },
    async () => {
      mkdirSync(cacheFolder(), { recursive: true });
      const said = await run('python3', ['tests/run.py', '--environment', ENVIRONMENT]);
      expect(said).toMatch(/\d+ passed/);
      expect(said).not.toMatch(/failed|error|skipped/);
    },
  );

  test(
    'records with a real gateway byte for byte, and what a killed agent left is sent by the recorder for JavaScript',
    { tags: ['calls§7.8'] },
    async () => {
      const url = await at.serve();
      const env = { STEMMA_SPOOL: at.spool, PYTHONPATH: join(PACKAGE, 'src'), PYTHONDONTWRITEBYTECODE: '1' };
      expect(await run(PYTHON, ['-c', AGENT, models.url, 'end'], { ...env, STEMMA_URL: url })).toBe('done\n');
      const found = await at.recorded();
      expect(found.map(({ label, status, match }) => [label, status, match])).toEqual([
        ['@c1', 'answered', 'started'],
        ['@c2', 'answered', 'appended'],
      ]);
      expect(found.map(({ requestText }) => requestText)).toEqual(
        models.calls.map(({ body }) => body.toString()),
      );
      // The server is away now.
      const killed = spawn(PYTHON, ['-c', AGENT, models.url, 'wait'], {
        env: { ...process.env, ...env, STEMMA_URL: url },
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      await once(killed.stdout, 'data');
      const ended = once(killed, 'exit');
      killed.kill('SIGKILL');
      await ended;
      expect(at.files()).toHaveLength(2);
      await at.serve(Number(new URL(url).port));
      expect(await at.recorder({ url }).flush({ timeout: 60_000 })).toBe(true);
      expect(at.files()).toEqual([]);
      expect((await at.recorded()).map(({ label }) => label).sort(compareCodePoints)).toEqual([
        ...['@c1', '@c1', '@c2', '@c2'],
      ]);
    },
  );

  test('is built as wheel and sdist, which work in empty environments', { timeout: INSTALLING }, async () => {
    const url = await at.serve();
    const out = join(at.directory, 'built');
    await run(PYTHON, ['-m', 'build', '--no-isolation', '--outdir', out]);
    const built = readdirSync(out).sort(compareCodePoints);
    expect(built).toEqual(['stemma_recorder-0.1.0-py3-none-any.whl', 'stemma_recorder-0.1.0.tar.gz']);
    for (const [i, file] of built.entries()) {
      const environment = join(at.directory, `environment-${i}`);
      await run('python3', ['-m', 'venv', environment]);
      const python = join(environment, 'bin/python');
      await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', join(out, file)]);
      const program = `
import stemma_recorder as stemma
call = stemma.record_call([{"role": "user", "content": "Hi"}], model="m", history="built-${i}")
stemma.record_answer(call, answer="Yes.")
assert stemma.flush(30), stemma.status()
`;
      expect(await run(python, ['-c', program], { STEMMA_URL: url, STEMMA_SPOOL: at.spool })).toBe('');
    }
    expect(
      (await at.recorded()).map(({ name, status }) => `${name} ${status}`).sort(compareCodePoints),
    ).toEqual(['built-0 answered', 'built-1 answered']);
  });
});
