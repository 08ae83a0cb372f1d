import { serveHome, upstreamsOf } from '@stemma/gateway';
import { openHome } from '@stemma/home';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN, runStemma, temporaryFolder } from './run-stemma.ts';

const PROJECT = join(import.meta.dirname, '../../../samples/quickstart');

const MENDED = `/** What a passenger of an age pays for the rides of a day, in crowns. */
export const fareOf = (age, rides) => (age < 6 ? 0 : Math.min(9, 3 * rides));
`;

/** What the scripted model says, call by call: tools with their arguments, or words. */
const SCRIPT: readonly (readonly (readonly [tool: string, given: object])[] | string)[] = [
  [
    ['read_file', { name: 'TASK.md' }],
    ['read_file', { name: 'fare.mjs' }],
  ],
  [['run_test', {}]],
  [['write_file', { name: 'fare.mjs', text: MENDED }]],
  [['run_test', {}]],
  'A child of 6 rode for nothing, and a day had no limit. Both are mended, and the test passes.',
];

const answerAt = (turn: number): object => {
  const said = SCRIPT[turn] ?? 'There is nothing left to do.';
  if (typeof said === 'string') return { role: 'assistant', content: said };
  return {
    role: 'assistant',
    content: null,
    tool_calls: said.map(([name, given], i) => ({
      id: `call_${turn}_${i}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(given) },
    })),
  };
};

/** Records the agent of the project with the scripted model, and bundles it. `STEMMA_WRITE_QUICKSTART=1` writes the one that is shipped. */
const recorded = async (folder: string): Promise<string> => {
  let turn = 0;
  const model = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const message = answerAt(turn++);
      const finish = 'tool_calls' in message ? 'tool_calls' : 'stop';
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(
        JSON.stringify({
          id: `scripted-${turn}`,
          model: 'scripted-1',
          choices: [{ index: 0, message, finish_reason: finish }],
          usage: { prompt_tokens: 200 + 90 * turn, completion_tokens: 30 },
        }),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  const directory = join(folder, 'home');
  cpSync(PROJECT, join(folder, 'project'), { recursive: true });
  const gateway = await serveHome({
    home: { directory, create: true },
    port: 0,
    upstreams: upstreamsOf({
      STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
    }),
  });
  const agent = spawn(process.execPath, ['agent.mjs'], {
    cwd: join(folder, 'project'),
    env: { ...process.env, OPENAI_BASE_URL: `${gateway.url}/proxy/run/quickstart/openai` },
    stdio: 'ignore',
  });
  expect((await once(agent, 'exit'))[0]).toBe(0);
  await gateway.drained(30_000);
  await gateway.close();
  model.closeAllConnections();
  model.close();
  const home = await openHome({ directory });
  const { histories } = await home.read.listHistories({});
  await home.close();
  const bundle = join(process.env['STEMMA_WRITE_QUICKSTART'] === '1' ? PROJECT : folder, 'run.stemma');
  const args = ['bundle', histories[0]?.history ?? '', '-o', bundle];
  expect((await runStemma(args, { env: { STEMMA_HOME: directory } })).code).toBe(0);
  return bundle;
};

/** What a person sees who runs it, and its exit code. */
const shown = (cwd: string, ...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'quickstart', ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), text: stdout + stderr }),
    );
  });

test('the recording that is shipped is of the agent and the model that are shipped', async () => {
  using folder = temporaryFolder();
  const bundle = await recorded(folder.path);
  cpSync(join(PROJECT, 'fare.mjs'), join(folder.path, 'project/fare.mjs'));
  for (const run of [bundle, join(PROJECT, 'run.stemma')]) {
    cpSync(join(PROJECT, 'fare.mjs'), join(folder.path, 'project/fare.mjs'));
    const ran = execFile(process.execPath, [MAIN, 'rerun', run, '--', process.execPath, 'agent.mjs'], {
      cwd: join(folder.path, 'project'),
    });
    expect((await once(ran, 'exit'))[0], run).toBe(0);
    expect(readFileSync(join(folder.path, 'project/fare.mjs'), 'utf8')).toBe(MENDED);
  }
});

test('quickstart shows an agent that runs again, and where it parts', async () => {
  using folder = temporaryFolder();
  const { code, text } = await shown(folder.path, 'here', '--no-open');
  expect(code, text).toBe(0);
  expect(text).toContain('same 0, bound 5, differs 0, missing 0 of 5     exit 0');
  expect(text).toContain('4 fares are right');
  expect(text).toContain('cause: a tool gave something else');
  expect(text).toContain('[-9-]{+12+}');
  expect(readdirSync(join(folder.path, 'here'))).toContain('run.stemma');
  const refused = await shown(folder.path, 'here', '--no-open');
  expect([refused.code, refused.text.includes('is not empty')]).toEqual([64, true]);
});
