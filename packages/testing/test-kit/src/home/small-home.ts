import type { Outcome } from '@stemma/command-handler';
import { providerThread } from '@stemma/context-tree';
import { historyId, type Step } from '@stemma/history';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHome, type Home } from '@stemma/home';
import { defined } from '@stemma/values';

/** A folder for a home that is gone when `using` ends. */
export const temporaryHome = (): Disposable & { readonly directory: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-home-'));
  return {
    directory: join(folder, 'home'),
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export const open = (directory: string): Promise<Home> => openHome({ directory, create: true });

/** The id of the history that is started as `name`. */
export const named = (name: string): string => historyId(name, '');

export const send = (
  home: Home,
  name: string,
  id: string,
  steps: readonly Step[],
  expected?: number,
): Promise<Outcome> =>
  home.submit({
    id,
    history: named(name),
    branchId: 0,
    by: { recorder: 'test' },
    ...defined({ expected }),
    steps: [...steps],
  });

export const start = (home: Home, name: string): Promise<Outcome> =>
  send(home, name, `start:${name}`, [{ op: 'start', name }]);

/** One cycle with one block, whose content can be found in the files. */
export const say = (home: Home, name: string, text: string): Promise<Outcome> =>
  send(home, name, `say:${name}:${text.slice(0, 50)}`, [
    { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content: text } },
    { op: 'commit' },
  ]);

/** The contents of the thread at a position (default: the working state), in order. */
export const contentsOf = async (home: Home, name: string, ref?: string): Promise<readonly unknown[]> => {
  const { tree, payloads, thread } = await home.read.view(await home.position(await home.find(name), ref));
  return providerThread(tree, payloads, thread).map(({ content }) => content);
};

/** Flips a bit of the first place where a text stands in the log's files. */
export const damage = (directory: string, text: string): void =>
  alter(directory, text, (bytes, place) => (bytes[place] = (bytes[place] ?? 0) ^ 1));

/** Erases the beginning of the record in which a text stands, with its header and key: nobody knows whose it was. */
export const eraseRecord = (directory: string, text: string): void =>
  alter(directory, text, (bytes, place) =>
    bytes.fill(0, bytes.lastIndexOf(Buffer.of(0xc1, 0x53, 0x4d, 0x31), place), place + text.length),
  );

const alter = (directory: string, text: string, change: (bytes: Buffer, place: number) => unknown): void => {
  const folder = join(directory, 'log');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const bytes = readFileSync(file);
    const place = bytes.indexOf(text);
    if (place === -1) continue;
    change(bytes, place);
    writeFileSync(file, bytes);
    return;
  }
  throw new Error(`no file of the log holds ${text}`);
};
