import { programFile } from '@stemma/test-kit';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'stemma-private-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = programFile('stemma');
const SAMPLES = join(import.meta.dirname, '../../../samples');

/** A command of somebody who lets everybody read what he makes. */
const stemma = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync('sh', ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, MAIN, ...args], {
    encoding: 'utf8',
    timeout: 30_000,
  });

const readable = (home: string): string[] =>
  ['', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]
    .filter((name) => (lstatSync(join(home, name)).mode & 0o077) !== 0)
    .map((name) => relative(home, join(home, name)) || '.');

it('only its owner can read a home, whatever the umask is, and doctor names the files of an older home that others can read', () => {
  const home = join(folder, 'home');
  const run = (...args: readonly string[]): ReturnType<typeof stemma> => stemma(...args, '--home', home);
  expect(run('import', join(SAMPLES, 'slow-checkout.steps.jsonl'), '--history', 'slow').status).toBe(0);
  expect(run('fork', 'slow', '@t-2', '--name', 'other', '--actor', 'test', '--notes', 'try').stderr).toBe('');
  const page = run('compare', 'slow', '@c2', 'other', '--html', join(home, 'page.html'));
  expect(page.stderr).toContain('wrote');
  expect(run('replay', '--verify').status).toBe(0);
  expect(readable(home)).toEqual([]);

  expect(run('doctor').stdout).toContain('no findings');
  chmodSync(home, 0o755);
  chmodSync(join(home, 'log'), 0o755);
  expect(run('doctor').stdout).toContain(
    'warning: 2 files and folders of the home may be read by other users of this machine (.): run `chmod -R go= HOME`',
  );
}, 60_000);

it('doctor counts likely secrets by kind and history, and does not print them', () => {
  const home = join(folder, 'secrets');
  const key = `ghp_${'a1B2'.repeat(9)}`;
  const messages = [
    { role: 'user', content: `use ${key} for the push` },
    { role: 'assistant', content: `-----BEGIN PRIVATE KEY-----\nMIIEv\n-----END PRIVATE KEY-----` },
    { role: 'user', content: 'thanks' },
  ];
  const file = join(folder, 'chat.json');
  writeFileSync(file, JSON.stringify({ messages }));
  expect(stemma('import', file, '--history', 'leaky', '--home', home).status).toBe(0);
  expect(stemma('import', join(SAMPLES, 'night-ferry.ctree.jsonl'), '--home', home).status).toBe(0);
  const { status, stdout } = stemma('doctor', '--secrets', '--home', home);
  expect(status).toBe(0);
  expect(stdout.match(/^warning: .*$/gm)).toEqual([
    'warning: the history leaky has texts that look like secrets: 1 × GitHub or GitLab token, 1 × private key',
  ]);
  expect(stdout).not.toContain(key.slice(0, 12));
}, 60_000);
