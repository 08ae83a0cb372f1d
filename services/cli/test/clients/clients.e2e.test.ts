import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { filesHolding, programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installClients, pathWith, type ClientLanguage, type InstalledClients } from './install-clients.ts';
import { startProvider, type ScriptedProvider } from './scripted-provider.ts';

const KEYS = ['sk-proj-0penA1testKey', 'sk-ant-Anthr0picTestKey'] as const;

/** A minute or two, where the packages come from far. */
const INSTALLING = 900_000;

let directory: string;
let provider: ScriptedProvider;
let installed: Readonly<Record<ClientLanguage, InstalledClients>>;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-clients-'));
  cpSync(join(import.meta.dirname, 'agents'), directory, { recursive: true });
  const [javascript, python] = await Promise.all([installClients('javascript'), installClients('python')]);
  installed = { javascript, python };
  if ('folder' in javascript)
    symlinkSync(join(javascript.folder, 'node_modules'), join(directory, 'node_modules'));
  provider = await startProvider();
}, INSTALLING);
afterAll(async () => {
  await provider.close();
  rmSync(directory, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** `stemma record OPTIONS -- COMMAND`, in a home of its own. */
const record = (
  home: string,
  folder: string,
  options: readonly string[],
  command: readonly string[],
): Promise<Ran> =>
  new Promise((resolve) => {
    const { OPENAI_BASE_URL: _openai, ANTHROPIC_BASE_URL: _anthropic, ...env } = process.env;
    execFile(
      process.execPath,
      [programFile('stemma'), 'record', ...options, '--', ...command],
      {
        cwd: directory,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          ...env,
          HOME: directory,
          PATH: pathWith(folder),
          STEMMA_HOME: home,
          // LiteLLM asks GitHub for prices when it starts, unless it is told not to.
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          OPENAI_API_KEY: KEYS[0],
          ANTHROPIC_API_KEY: KEYS[1],
          STEMMA_UPSTREAM_OPENAI: `${provider.url}/v1`,
          STEMMA_UPSTREAM_ANTHROPIC: provider.url,
        },
      },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

type RecordedCall = {
  readonly api: string;
  readonly status: string;
  readonly match: string | null;
  readonly isRead: boolean;
  /** Hashes of the bodies as they are given back. */
  readonly request: string;
  readonly response: string;
};

/** Every attempt of every branch of a home, once. */
const recordedCalls = async (directory: string): Promise<RecordedCall[]> => {
  const home = await openHome({ directory });
  try {
    const calls = new Map<string, RecordedCall>();
    for (const { history, branches } of await home.read.histories())
      for (const { branchId } of branches)
        for (const attempt of (await home.calls.list(branchRefOf(history, branchId))).attempts) {
          const { attemptId, api, status, match } = attempt;
          const body = async (which: 'request' | 'response'): Promise<string> =>
            sha256(await home.calls.body(history, attemptId, which));
          calls.set(attemptId, {
            ...{ api, status, match },
            isRead: attempt.model !== null && attempt.finishReason !== null,
            request: await body('request'),
            response: await body('response'),
          });
        }
    return [...calls.values()];
  } finally {
    await home.close();
  }
};

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const API_OF: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'openai.chat',
  '/v1/responses': 'openai.responses',
  '/v1/messages': 'anthropic.messages',
};

const CHAT = 'openai.chat';
const RESPONSES = 'openai.responses';
const MESSAGES = 'anthropic.messages';

type Client = {
  readonly name: string;
  readonly language: ClientLanguage;
  readonly command: readonly string[];
  /** How many calls of which API it makes. */
  readonly calls: Readonly<Record<string, number>>;
  /** How many conversations these are. */
  readonly started: number;
};

const node = (file: string): Pick<Client, 'language' | 'command'> => ({
  language: 'javascript',
  command: [process.execPath, file],
});
const python = (file: string): Pick<Client, 'language' | 'command'> => ({
  language: 'python',
  command: ['python', file],
});

const CLIENTS: readonly Client[] = [
  { name: 'openai for JavaScript', ...node('openai.mjs'), calls: { [CHAT]: 4, [RESPONSES]: 2 }, started: 2 },
  { name: '@anthropic-ai/sdk', ...node('anthropic.mjs'), calls: { [MESSAGES]: 3 }, started: 1 },
  {
    ...{ name: 'Claude Code', language: 'javascript', command: ['bash', 'claude_code.sh'] },
    ...{ calls: { [MESSAGES]: 4 }, started: 1 },
  },
  {
    ...{ name: 'the AI SDK', ...node('ai.mjs') },
    ...{ calls: { [CHAT]: 3, [RESPONSES]: 3, [MESSAGES]: 3 }, started: 6 },
  },
  {
    ...{ name: 'LangChain.js and LangGraph.js', ...node('langchain.mjs') },
    ...{ calls: { [CHAT]: 6, [RESPONSES]: 6, [MESSAGES]: 6 }, started: 9 },
  },
  {
    ...{ name: 'openai for Python', ...python('openai_client.py') },
    ...{ calls: { [CHAT]: 8, [RESPONSES]: 2 }, started: 7 },
  },
  { name: 'anthropic for Python', ...python('anthropic_client.py'), calls: { [MESSAGES]: 3 }, started: 1 },
  {
    ...{ name: 'LangChain and LangGraph for Python', ...python('langgraph_client.py') },
    ...{ calls: { [CHAT]: 4, [RESPONSES]: 4 }, started: 4 },
  },
  {
    ...{ name: 'litellm', ...python('litellm_client.py') },
    ...{ calls: { [CHAT]: 3, [MESSAGES]: 3 }, started: 2 },
  },
  {
    ...{ name: 'mini-swe-agent', language: 'python', command: ['bash', 'mini_swe_agent.sh'] },
    ...{ calls: { [CHAT]: 2 }, started: 1 },
  },
];

describe.each([
  ['named by variables', []],
  ['intercepted', ['--intercept']],
])('a client that nobody changed is recorded, byte for byte, %s', { tags: ['calls§4.1'] }, (how, options) => {
  for (const [i, { name, language, command, calls, started }] of CLIENTS.entries())
    test(name, async ({ skip }) => {
      const clients = installed[language];
      if ('missing' in clients) {
        skip(clients.missing);
        return;
      }
      const home = join(directory, `home-${how}-${i}`);
      const ran = await record(home, clients.folder, options, command);
      const made = provider.take();
      // Claude Code asks Anthropic's own host for more than its models: that passes unrecorded.
      expect(ran.stderr).toMatch(
        new RegExp(
          `recorded ${made.length} of (${made.length} calls|\\d+: \\d+ passed unrecorded \\(GET /api/)`,
        ),
      );
      expect(ran.code).toBe(0);
      const recorded = await recordedCalls(home);
      const seen = made.map(({ path, request, response }) => ({
        ...{ api: API_OF[path] ?? path, status: 'answered', isRead: true },
        ...{ request: sha256(request), response: sha256(response) },
      }));
      expect(recorded.map(({ match: _match, ...call }) => call).sort(byHashes)).toEqual(seen.sort(byHashes));
      const counts: Record<string, number> = {};
      for (const { api } of recorded) counts[api] = (counts[api] ?? 0) + 1;
      expect(counts).toEqual(calls);
      expect(recorded.filter(({ match }) => match === 'started')).toHaveLength(started);
      expect(recorded.filter(({ match }) => match === 'appended')).toHaveLength(recorded.length - started);
      expect(provider.unknown.filter((asked) => !/ \/(api|mcp-registry)\//.test(asked))).toEqual([]);
      expect(filesHolding(home, KEYS)).toEqual([]);
      expect(ran.stderr).not.toMatch(new RegExp(KEYS.join('|')));
    });
});

const byHashes = (
  a: Pick<RecordedCall, 'request' | 'response'>,
  b: Pick<RecordedCall, 'request' | 'response'>,
): number => (a.request + a.response < b.request + b.response ? -1 : 1);
