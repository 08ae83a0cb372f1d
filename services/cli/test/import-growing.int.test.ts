import { openHome, type Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
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

/** The texts that a branch shows at its tip. */
const textOf = async (home: Home, branch: string): Promise<string> => {
  const { tree, payloads, thread } = await home.read.view(await home.position(await home.find(branch)));
  const messages = toOpenAIMessages(tree, payloads, thread) as readonly { content?: unknown }[];
  const textIn = (content: unknown): string =>
    Array.isArray(content)
      ? content.map(({ text: part }: { text?: string }) => part ?? '').join('')
      : String(content);
  return messages.map(({ content }) => textIn(content)).join('\n');
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

  it('goes on past names and branches of observers, and on a branch of its own where they changed its own', async () => {
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
    const beside = await importAs(home, file);
    const { branchId: own = 0, says = [] } = beside.imported ?? {};
    expect([own > 0, says.join('\n')]).toEqual([true, expect.stringContaining('on a branch beside')]);
    const threadOf = (branch: string) => textOf(home, branch);
    expect(await threadOf('beds')).toMatch(/^(?!.*And now).*Stop\./s);
    expect(await threadOf(`beds:${own}`)).toMatch(/^(?!.*Stop).*Yes\..*And now\?$/s);
    expect((await importAs(home, file)).imported).toMatchObject({ branchId: own, repeated: true });

    // It is written on, and somebody puts something behind it once more.
    await act('insert-3', own, { op: 'insert', parent: '^ah', node: { ...node, content: 'Wait.' } });
    writeFileSync(file, bytesOf([...changed, answer('a6', 'u5', 'msg_5', text('Two.'))]));
    const { branchId: next = 0 } = (await importAs(home, file)).imported ?? {};
    expect(next).not.toBe(own);
    expect(await threadOf(`beds:${own}`)).toMatch(/^(?!.*Two).*Wait\./s);
    expect(await threadOf(`beds:${next}`)).toMatch(/^(?!.*Wait).*And now\?.*Two\.$/s);
    expect((await importAs(home, file)).imported).toMatchObject({ branchId: next, repeated: true });
  });

  it('a result between two lines of one answer parts it, and the tip shows all of the session wherever it was read before', async () => {
    const folder = newFolder();
    const file = join(folder.path, 'session.jsonl');
    const calls = (id: string): Line => ({
      type: 'tool_use',
      id,
      name: 'Read',
      input: { file: `${id}.txt` },
    });
    const result = (uuid: string, parent: string, id: string): Line =>
      prompt(uuid, parent, [{ type: 'tool_result', tool_use_id: id, content: `bed ${id}` }]);
    const session: readonly Line[] = [
      prompt('u1', null, 'Count the beds.'),
      answer('a1', 'u1', 'msg_1', text('I look.')),
      answer('a2', 'a1', 'msg_1', calls('t1')),
      result('u2', 'a2', 't1'),
      answer('a3', 'u2', 'msg_1', calls('t2')),
      result('u3', 'a3', 't2'),
      answer('a4', 'u3', 'msg_2', text('Two.')),
    ];
    const home = await openIn(join(folder.path, 'home'));
    let tip = '';
    for (let count = 1; count <= session.length; count++) {
      writeFileSync(file, bytesOf(session.slice(0, count)));
      const { branch = '' } = (await importAs(home, file)).imported ?? {};
      tip = await textOf(home, branch);
    }
    const once = await openIn(join(folder.path, 'once'));
    const { branch = '' } = (await importAs(once, file)).imported ?? {};
    expect(tip).toBe(await textOf(once, branch));
    expect(tip).toMatch(/bed t1.*bed t2.*Two\.$/s);
    expect((await importAs(home, file)).imported).toMatchObject({ repeated: true });
  });

  it('a session that was rewritten goes on where it says something else, and nothing of before is lost', async () => {
    const folder = newFolder();
    const home = await openIn(join(folder.path, 'home'));
    const file = join(folder.path, 'session.jsonl');
    const said = (end: string): readonly Line[] => [
      ...SESSION.slice(0, 5),
      prompt('u3', 'a3', `Are you sure ${end}?`),
      answer('a4', 'u3', `msg_${end}`, text(`Yes, ${end}.`)),
    ];
    for (const end of ['today', 'tomorrow', 'today', 'always']) {
      writeFileSync(file, bytesOf(said(end)));
      await importAs(home, file);
    }
    const { branches } = await home.read.history((await home.find('beds')).history);
    const threads = await Promise.all(branches.map(({ branch }) => textOf(home, branch)));
    for (const end of ['today', 'tomorrow', 'always'])
      expect(threads.filter((thread) => thread.endsWith(`Are you sure ${end}?\nYes, ${end}.`))).toHaveLength(
        1,
      );
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
