import { compareCodePoints } from '@stemma/canonical';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSnapshots } from '../../src/workspace/take-snapshots.ts';
import { WORKSPACE_LIMITS, type WorkspaceSnapshot } from '../../src/workspace/types.ts';

let directory: string;
let root: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org', ...args], { cwd: root });
const write = (path: string, text: string) => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
};
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stemma-workspace-')));
  root = join(directory, 'project');
  mkdirSync(root);
  execFileSync('git', ['init', '--quiet', '--bare', join(directory, 'own')]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = (limits = {}) =>
  openSnapshots({
    ...{ root, home: join(root, '.stemma'), gitDirectory: join(directory, 'own'), env: process.env },
    limits: { ...WORKSPACE_LIMITS, ...limits },
  });
const shown = ({ files }: WorkspaceSnapshot) =>
  files.map(
    ({ path, before, after }) =>
      `${path} ${before?.size ?? '-'} ${after === null ? '-' : `${after.state.size} ${after.state.mode} ${after.contents}`}`,
  );

test('a workspace in a repository has what git keeps, and nothing of the repository changes', () => {
  git('init', '--quiet');
  write('.gitignore', 'built/\n*.log\n');
  write('src/a.ts', 'one');
  write('kept.log', 'kept though ignored');
  write('built/a.js', 'built');
  write('.stemma/log', 'the home');
  git('add', '.gitignore', 'src');
  git('add', '--force', 'kept.log');
  git('commit', '--quiet', '-m', 'one');
  write('new.txt', 'new');
  write('vendor/lib/x', 'x');
  execFileSync('git', ['init', '--quiet', join(root, 'vendor/lib')]);
  symlinkSync('src/a.ts', join(root, 'link'));
  const before = readFileSync(join(root, '.git/index'));
  const { take, taken } = open();
  const first = take();
  expect(shown(first)).toEqual([
    '.gitignore - 13 100644 kept',
    'kept.log - 19 100644 kept',
    'link - 8 120000 kept',
    'new.txt - 3 100644 kept',
    'src/a.ts - 3 100644 kept',
  ]);
  expect(first).toMatchObject({ since: null, repositories: ['vendor/lib'], left: 0 });
  expect(shown(take())).toEqual([]);
  write('src/a.ts', 'two');
  chmodSync(join(root, 'new.txt'), 0o755);
  rmSync(join(root, 'kept.log'));
  write('more.log', 'ignored');
  expect(shown(take())).toEqual(['kept.log 19 -', 'new.txt 3 3 100755 kept', 'src/a.ts 3 3 100644 kept']);
  const { snapshots, bytes } = taken();
  // The look in between found nothing, and the next one counts from it.
  expect(snapshots).toHaveLength(2);
  expect(snapshots[1]?.since).toBeGreaterThanOrEqual(first.startedAt);
  expect([...bytes.values()].map((each) => Buffer.from(each).toString()).sort(compareCodePoints)).toEqual(
    ['built/\n*.log\n', 'kept though ignored', 'new', 'one', 'src/a.ts', 'two'].sort(compareCodePoints),
  );
  expect(readFileSync(join(root, '.git/index')).equals(before)).toBe(true);
  expect(existsSync(join(root, '.git/index.lock'))).toBe(false);
});

test('a workspace in no repository has what no .gitignore leaves out, also one that its repository ignores', () => {
  write('.gitignore', 'ignored\n');
  write('ignored', 'x');
  write('naïve 🚀', 'y');
  expect(shown(open().take())).toEqual(['.gitignore - 8 100644 kept', 'naïve 🚀 - 1 100644 kept']);
  const outer = root;
  git('init', '--quiet');
  write('.gitignore', 'inner/\n');
  write('inner/z', 'z');
  root = join(outer, 'inner');
  expect(shown(open().take())).toEqual(['z - 1 100644 kept']);
});

test('what is too large, or too much, is known by its hash or its number', () => {
  write('a', 'aaaaaaaaaa');
  write('b', 'bbbbbb');
  write('c', 'cc');
  write('d', 'd');
  write('e', 'e');
  const { take } = open({ files: 4, hashed: 8, kept: 4, total: 2 });
  const first = take();
  expect(shown(first)).toEqual([
    'a - 10 100644 large',
    'b - 6 100644 large',
    'c - 2 100644 kept',
    'd - 1 100644 full',
  ]);
  expect(first.files.map(({ after }) => after?.state.sha256 !== null)).toEqual([false, true, true, true]);
  expect(first.left).toBe(1);
});

test('a folder that becomes a link leads nowhere', () => {
  git('init', '--quiet');
  write('inside/a', 'a');
  git('add', '.');
  mkdirSync(join(directory, 'outside'));
  writeFileSync(join(directory, 'outside/a'), 'secret');
  const { take } = open();
  take();
  rmSync(join(root, 'inside'), { recursive: true });
  symlinkSync(join(directory, 'outside'), join(root, 'inside'));
  expect(shown(take())).toEqual([
    `inside - ${join(directory, 'outside').length} 120000 kept`,
    'inside/a 1 -',
  ]);
});
