import { openHome } from '@stemma/home';
import { programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installClients, pathWith, type ClientLanguage, type InstalledClients } from './install-clients.ts';
import { startProvider } from './scripted-provider.ts';

/** A minute or two, where the packages come from far. */
const INSTALLING = 900_000;

/** Runs a command whose calls go through it, and writes how many came to a file. */
const COUNTER = `
import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { writeFileSync } from 'node:fs';
const [file, program, ...args] = process.argv.slice(2);
let count = 0;
const bases = { openai: process.env.OPENAI_BASE_URL, anthropic: process.env.ANTHROPIC_BASE_URL };
const server = createServer((incoming, outgoing) => {
  count++;
  const [, provider, rest] = /^\\/(openai|anthropic)(.*)$/.exec(incoming.url);
  // The proxy answers nobody who means another host.
  const { method, headers: { host, ...headers } } = incoming;
  const made = request(bases[provider] + rest, { method, headers }, (received) => {
    outgoing.writeHead(received.statusCode, received.headers);
    received.pipe(outgoing);
  });
  incoming.pipe(made);
}).listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const env = { ...process.env };
  for (const provider of ['openai', 'anthropic'])
    for (const name of ['_BASE_URL', '_API_BASE']) env[provider.toUpperCase() + name] = url + '/' + provider;
  spawn(program, args, { stdio: 'inherit', env }).on('exit', (code) => {
    writeFileSync(file, String(count));
    process.exit(code ?? 1);
  });
});
`;

let directory: string;
let installed: Readonly<Record<ClientLanguage, InstalledClients>>;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-rerun-clients-'));
  cpSync(join(import.meta.dirname, 'agents'), directory, { recursive: true });
  writeFileSync(join(directory, 'counter.mjs'), COUNTER);
  const [javascript, python] = await Promise.all([installClients('javascript'), installClients('python')]);
  installed = { javascript, python };
  if ('folder' in javascript)
    symlinkSync(join(javascript.folder, 'node_modules'), join(directory, 'node_modules'));
}, INSTALLING);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const stemma = (home: string, folder: string, url: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const { OPENAI_BASE_URL: _openai, ANTHROPIC_BASE_URL: _anthropic, ...env } = process.env;
    execFile(
      process.execPath,
      [programFile('stemma'), ...args],
      {
        cwd: directory,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          ...env,
          HOME: directory,
          PATH: pathWith(folder),
          STEMMA_HOME: home,
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          OPENAI_API_KEY: 'k',
          ANTHROPIC_API_KEY: 'k',
          STEMMA_UPSTREAM_OPENAI: `${url}/v1`,
          STEMMA_UPSTREAM_ANTHROPIC: url,
        },
      },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const historyIn = async (directory: string): Promise<string> => {
  const home = await openHome({ directory });
  try {
    const { histories } = await home.read.listHistories({});
    return histories[0]?.history ?? '';
  } finally {
    await home.close();
  }
};

const node = { language: 'javascript', program: process.execPath } as const;
const python = { language: 'python', program: 'python' } as const;

type Client = {
  readonly name: string;
  readonly language: ClientLanguage;
  readonly program: string;
  readonly file: string;
  /** How many calls it makes. */
  readonly calls: number;
};

const CLIENTS: readonly Client[] = [
  { name: 'openai for JavaScript', ...node, file: 'openai.mjs', calls: 6 },
  { name: '@anthropic-ai/sdk', ...node, file: 'anthropic.mjs', calls: 3 },
  { name: 'the AI SDK', ...node, file: 'ai.mjs', calls: 9 },
  { name: 'LangChain.js and LangGraph.js', ...node, file: 'langchain.mjs', calls: 18 },
  { name: 'openai for Python', ...python, file: 'openai_client.py', calls: 10 },
  { name: 'anthropic for Python', ...python, file: 'anthropic_client.py', calls: 3 },
  { name: 'LangChain and LangGraph for Python', ...python, file: 'langgraph_client.py', calls: 8 },
  { name: 'litellm', ...python, file: 'litellm_client.py', calls: 6 },
];

test.for(CLIENTS)(
  '$name runs again without its provider, and does not repeat a call that differs',
  { timeout: 240_000 },
  async (client, { skip }) => {
    const { language, program, file, calls } = client;
    const clients = installed[language];
    if ('missing' in clients) {
      skip(clients.missing);
      return;
    }
    const { folder } = clients;
    const home = join(directory, `home-${file}`);
    const provider = await startProvider();
    const { url } = provider;
    const recorded = await stemma(home, folder, url, ['record', '--', program, file]);
    expect([recorded.code, provider.take().length]).toEqual([0, calls]);
    await provider.close();
    const history = await historyIn(home);
    const again = await stemma(home, folder, url, ['rerun', history, '--json', '--', program, file]);
    const report = JSON.parse(again.stdout) as { readonly [name: string]: unknown };
    expect([again.code, report['same'], report['bound'], report['missing']]).toEqual([0, calls, 0, 0]);

    const changed = `changed-${file}`;
    const source = readFileSync(join(directory, file), 'utf8');
    writeFileSync(join(directory, changed), source.replaceAll('weather', 'climate'));
    const counter = [process.execPath, 'counter.mjs', join(directory, 'count'), program, changed];
    const differs = await stemma(home, folder, url, ['rerun', history, '--json', '--', ...counter]);
    const { calls: judged } = JSON.parse(differs.stdout) as {
      readonly calls: readonly { readonly how: string }[];
    };
    expect(differs.code).toBe(5);
    const came = judged.filter(({ how }) => how !== 'missing');
    expect(came.map(({ how }) => how)).toContain('differs');
    expect(Number(readFileSync(join(directory, 'count'), 'utf8'))).toBe(came.length);
  },
);
