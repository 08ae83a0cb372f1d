import { openHome, type Home } from '@stemma/home';
import { temporaryFolder } from './run-stemma.ts';
import { mkdirSync, writeFileSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changedFiles } from '../src/changed-files.ts';
import { importFile } from '../src/import-file.ts';
import { runStemma, stemmaJson } from './run-stemma.ts';

const { signal } = new AbortController();

type Line = Record<string, unknown>;
const line = (type: string, uuid: string, parentUuid: string | null, message: Line): Line => ({
  ...{ type, uuid, parentUuid, sessionId: 'session-1', version: '2.1.7', isSidechain: false, message },
});
const prompt = (uuid: string, parent: string | null, content: unknown): Line =>
  line('user', uuid, parent, { role: 'user', content });
const answer = (uuid: string, parent: string, id: string, block: Line): Line =>
  line('assistant', uuid, parent, { role: 'assistant', id, model: 'claude-x', content: [block] });
const text = (said: string): Line => ({ type: 'text', text: said });

/** Two calls with a tool between them, a rewind, and a call behind it. */
const SESSION: readonly Line[] = [
  prompt('u1', null, 'Count the beds.'),
  answer('a1', 'u1', 'msg_1', text('I look.')),
  answer('a2', 'a1', 'msg_1', { type: 'tool_use', id: 't1', name: 'Read', input: { file: 'garden.txt' } }),
  prompt('u2', 'a2', [{ type: 'tool_result', tool_use_id: 't1', content: 'bed A' }]),
  answer('a3', 'u2', 'msg_2', text('One.')),
  prompt('u3', 'a3', 'Are you sure?'),
  answer('a4', 'u3', 'msg_3', text('Yes.')),
  prompt('u4', 'a3', 'Count once more.'),
  answer('a5', 'u4', 'msg_4', text('One.')),
];
const bytesOf = (lines: readonly Line[]): string => lines.map((each) => `${JSON.stringify(each)}\n`).join('');

/** It goes after the homes in it are closed. */
const newFolder = () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  return folder;
};
const openIn = async (folder: string): Promise<Home> => {
  const home = await openHome({ directory: folder, create: true });
  onTestFinished(() => home.close());
  return home;
};
const importAs = (home: Home, file: string, more: { readonly mayGrow?: boolean } = {}) =>
  importFile(home, file, { format: 'auto', name: () => 'beds', signal, ...more });

/** The trees of all branches, and what their calls say. */
const stateOf = async (home: Home): Promise<unknown> => {
  const { branches } = await home.read.history((await home.find('beds')).history);
  const all: unknown[] = [];
  for (const { branch } of branches) {
    const ref = await home.find(branch);
    const snapshots = await home.read.snapshots(ref);
    const { attempts } = await home.calls.list(ref);
    all.push([snapshots.map(({ treeHash }) => treeHash), attempts.map(({ attemptId }) => attemptId)]);
  }
  return all;
};

describe('a session that is imported while it grows', () => {
  it('comes to what one import of the whole comes to, wherever it was read before', async () => {
    const folder = newFolder();
    const [once, often] = [await openIn(join(folder.path, 'once')), await openIn(join(folder.path, 'often'))];
    const file = join(folder.path, 'session.jsonl');
    writeFileSync(file, '');
    for (const each of SESSION) {
      appendFileSync(file, bytesOf([each]).slice(0, 20));
      await importAs(often, file, { mayGrow: true }).catch(() => undefined);
      appendFileSync(file, bytesOf([each]).slice(20));
      await importAs(often, file, { mayGrow: true });
    }
    const { imported } = await importAs(often, file);
    expect(imported).toMatchObject({ calls: 4, branches: 1, repeated: false });
    await importAs(once, file);
    expect(await stateOf(often)).toEqual(await stateOf(once));
    expect((await importAs(often, file)).imported).toMatchObject({ repeated: true });
  });

  it('goes on past names and branches of observers, and is refused where they changed its branch', async () => {
    const folder = newFolder();
    const home = await openIn(join(folder.path, 'home'));
    const file = join(folder.path, 'session.jsonl');
    writeFileSync(file, bytesOf(SESSION.slice(0, 5)));
    await importAs(home, file);
    const { history } = await home.find('beds');
    const act = (id: string, branchId: number, step: Line) =>
      home.submit({ id, history, branchId, by: { actor: 'ada' }, steps: [step as never] });
    await act('name-1', 0, { op: 'name', name: 'look-here' });
    const { branchId } = await act('fork-1', 0, { op: 'fork', name: 'what-if' });
    const node = { nodeType: 'cb', role: 'user', kind: 'text', content: 'Mind the gap.' };
    await act('insert-1', branchId, { op: 'insert', parent: '^ah', node });
    writeFileSync(file, bytesOf(SESSION.slice(0, 8)));
    expect((await importAs(home, file)).imported).toMatchObject({ calls: 3, branches: 1 });
    await act('insert-2', 0, { op: 'insert', parent: '^ah', node: { ...node, content: 'Stop.' } });
    const changed = [...SESSION, prompt('u5', 'a4', 'And now?')];
    writeFileSync(file, bytesOf(changed));
    await expect(importAs(home, file)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  });
});

describe('what stands in the usual places', () => {
  it('is listed with its size and not read, and is imported by the name of its program', async () => {
    using folder = temporaryFolder();
    const env = { HOME: folder.path };
    const sessions = join(folder.path, '.claude', 'projects', '-w');
    mkdirSync(sessions, { recursive: true });
    writeFileSync(join(sessions, 'session-1.jsonl'), bytesOf(SESSION));
    const home = ['--home', join(folder.path, 'home')];
    const { found } = JSON.parse(
      (await runStemma(['import', '--discover', '--json', ...home], { env })).stdout,
    ) as {
      found: { name: string; files: number }[];
    };
    expect(found).toMatchObject([{ name: 'claude', files: 1 }]);
    const { code, stdout } = await runStemma(['import', 'claude', '--json', ...home], { env });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { imported: [{ format: 'claude-code', calls: 4 }] },
    ]);
    const histories = (await stemmaJson(['histories', ...home])) as { import: { calls: number } }[];
    expect(histories).toMatchObject([{ import: { calls: 4, branches: 1 } }]);
    const none = await runStemma(['import', 'codex', ...home], { env });
    expect(none.stderr).toContain('there are no sessions of Codex CLI in ');
  });
});

it('files that are written in a folder are given once they are quiet, also new ones', async () => {
  using folder = temporaryFolder();
  const stop = new AbortController();
  const seen = new Set<string>();
  const wanted = [join(folder.path, 'a.jsonl'), join(folder.path, 'b.jsonl')];
  const follow = async (): Promise<void> => {
    for await (const files of changedFiles([folder.path], stop.signal)) {
      for (const file of files) seen.add(file);
      if (wanted.every((file) => seen.has(file))) stop.abort();
    }
  };
  const done = follow();
  for (const file of wanted) writeFileSync(file, 'x');
  await done;
  expect(seen).toEqual(new Set(wanted));
});
