import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { quantile } from '../measure.ts';
import { STEMMA } from '../stemma-program.ts';
import { figure, type BenchmarkOptions, type Report } from '../table.ts';

/** Milliseconds that looking at the files may add to the first byte of a call. */
const LIMIT = 5;

/** Milliseconds after which the provider answers. */
const ANSWERS_AFTER = 80;

/** Calls that are left out: the programs are still compiled. */
const FIRST = 5;

/** An agent that changes a file between two calls, and writes down how long each call took to its first byte. */
const AGENT = `
import { writeFileSync } from 'node:fs';
const [calls, file] = process.argv.slice(2);
const times = [];
for (let i = 0; i < Number(calls); i++) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Call ' + i }] });
  const started = performance.now();
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body,
  });
  times.push(performance.now() - started);
  await response.text();
  writeFileSync('folder-1/changed.ts', 'change ' + i);
  await new Promise((resolve) => setTimeout(resolve, 30));
}
writeFileSync(file, JSON.stringify(times));
`;

const ANSWER = JSON.stringify({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const openProvider = async () => {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    setTimeout(
      () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER),
      ANSWERS_AFTER,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** About 5 KB a file, in folders of a hundred. */
const writeTree = (root: string, files: number): void => {
  for (let i = 0; i < files; i++) {
    const folder = join(root, `folder-${i % Math.max(2, Math.ceil(files / 100))}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${i}.ts`), `// line of file ${i}\n`.repeat(1 + ((i * 37) % 500)));
  }
};

/** What looking at the files of an agent adds to the first bytes of its calls. */
export const workspace = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const [files, calls] = quick ? [200, 10] : [5_000, 100];
  const root = join(directory, 'tree');
  writeTree(root, files);
  const agent = join(directory, 'agent.mjs');
  writeFileSync(agent, AGENT);
  const provider = await openProvider();
  const record = async (name: string, options: readonly string[]): Promise<readonly number[]> => {
    const times = join(directory, `${name}.json`);
    const words = ['record', ...options, '--', process.execPath, agent, String(calls), times];
    const env = { ...process.env, STEMMA_HOME: join(directory, name), STEMMA_ACTOR: 'bench', STEMMA_LOG: '' };
    const child = spawn(process.execPath, [STEMMA, ...words], {
      ...{ cwd: root, stdio: 'ignore', env: { ...env, STEMMA_ROWS: '', OPENAI_BASE_URL: provider.url } },
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`stemma record ended with ${code}`);
    return (JSON.parse(readFileSync(times, 'utf8')) as number[]).slice(FIRST);
  };
  const without: number[] = [];
  const withFiles: number[] = [];
  try {
    // In turns: what else the machine does meets both.
    for (let round = 0; round < (quick ? 1 : rounds); round++) {
      without.push(...(await record(`without-${round}`, [])));
      withFiles.push(...(await record(`with-${round}`, ['--workspace'])));
    }
  } finally {
    provider.close();
  }
  const parts = [0.5, 0.9, 0.99] as const;
  const row = (name: string, times: readonly number[]): readonly string[] => [
    name,
    ...parts.map((part) => figure(quantile(times, part))),
  ];
  const added = parts.map((part) => quantile(withFiles, part) - quantile(without, part));
  return {
    name: 'workspace',
    tables: [
      {
        title: 'Calls of an agent whose files are looked at',
        columns: ['', 'first byte, p50 ms', 'p90', 'p99'],
        rows: [
          row('stemma record', without),
          row('stemma record --workspace', withFiles),
          ['added', ...added.map(figure)],
        ],
        notes: [
          `A tree of ${figure(files)} files of 5 KB, ${calls} calls a run, runs in turns; the agent changes a file between two calls. The provider answers after ${ANSWERS_AFTER} ms, in the process that measures.`,
        ],
      },
    ],
    aims: parts.map((part, i) => ({
      what: `what --workspace adds to a first byte, p${part * 100}`,
      aim: `≤ ${LIMIT} ms`,
      measured: `${figure(added[i] ?? 0)} ms`,
      met: (added[i] ?? 0) <= LIMIT,
    })),
    figures: { without, withFiles },
  };
};
