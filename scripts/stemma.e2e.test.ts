import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Stands for the command line: tells what it was given, then does what the first argument says. */
const probe = `
import { readFileSync } from 'node:fs';
const [what, ...rest] = process.argv.slice(2);
const input = what === 'wait' ? '' : readFileSync(0, 'utf8');
const node: string = process.version;
console.log(JSON.stringify({ rest, input, cwd: process.cwd(), node }));
if (what === 'wait') setInterval(() => undefined, 1000);
else process.exitCode = Number(what);
`;

let folder: string;
let script: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'stemma script ')));
  const workspace = join(folder, 'work space');
  mkdirSync(join(workspace, 'services/cli/src'), { recursive: true });
  mkdirSync(join(workspace, 'node_modules'));
  mkdirSync(join(folder, 'elsewhere'));
  cpSync(join(root, 'stemma'), join(workspace, 'stemma'));
  symlinkSync(realpathSync(join(root, 'node_modules/node')), join(workspace, 'node_modules/node'));
  writeFileSync(join(workspace, 'package.json'), '{"type":"module"}');
  writeFileSync(join(workspace, 'services/cli/src/main.ts'), probe);
  symlinkSync('../work space/stemma', join(folder, 'elsewhere/link'));
  script = join(workspace, 'stemma');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('./stemma', () => {
  it('passes arguments, stdin, the current directory and the exit code through, and runs the Node.js of the workspace', async () => {
    const cwd = join(folder, 'elsewhere');
    const { code, stdout, stderr } = await run(script, ['3', 'a b', '', "it's", '--x=*'], {
      cwd,
      input: 'line\n',
    });

    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      rest: ['a b', '', "it's", '--x=*'],
      input: 'line\n',
      cwd,
      node: process.version,
    });
  });

  it('works through a symbolic link and by a relative path', async () => {
    const byLink = await run(join(folder, 'elsewhere/link'), ['0', 'link'], { cwd: '/' });
    const byPath = await run('../work space/stemma', ['0', 'path'], { cwd: join(folder, 'elsewhere') });

    expect([byLink.code, byPath.code]).toEqual([0, 0]);
    expect(JSON.parse(byLink.stdout)).toMatchObject({ rest: ['link'], cwd: '/' });
    expect(JSON.parse(byPath.stdout)).toMatchObject({ rest: ['path'] });
  });

  it('runs the built program until a source, a folder of sources or the lock file is newer', async () => {
    const workspace = join(folder, 'work space');
    const built = join(workspace, 'services/cli/dist/stemma.js');
    const sources = [
      'packages/room/a/src/deep/a.ts',
      'packages/room/a/src/deep',
      'services/cli/src/main.ts',
      'pnpm-lock.yaml',
    ];
    mkdirSync(join(workspace, 'packages/room/a/src/deep'), { recursive: true });
    mkdirSync(join(workspace, 'services/cli/dist'), { recursive: true });
    for (const file of ['packages/room/a/src/deep/a.ts', 'pnpm-lock.yaml'])
      writeFileSync(join(workspace, file), '');
    writeFileSync(built, "console.log('built', ...process.argv.slice(2))");
    const began = Date.now() / 1000;
    const date = (file: string, seconds: number): void => {
      utimesSync(join(workspace, file), began + seconds, began + seconds);
    };
    const folders = ['packages/room/a/src', 'services/cli/src'];
    for (const each of [...sources, ...folders]) date(each, -10);
    date('services/cli/dist/stemma.js', 0);

    expect(await run(script, ['a b'], { cwd: folder })).toEqual({
      code: 0,
      stdout: 'built a b\n',
      stderr: '',
    });
    for (const source of sources) {
      date(source, 10);
      expect(JSON.parse((await run(script, ['0'], { cwd: folder })).stdout)).toMatchObject({ rest: [] });
      date(source, -10);
    }
    expect(await run(script, [], { cwd: folder })).toMatchObject({ stdout: 'built\n' });
    rmSync(join(workspace, 'services/cli/dist'), { recursive: true });
  });

  it('ends on a signal like the program itself', async () => {
    const child = spawn(script, ['wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGTERM');
    const signal = await new Promise((resolve) => {
      child.on('close', (_code, by) => {
        resolve(by);
      });
    });

    expect(signal).toBe('SIGTERM');
  });

  it('prints what to do when nothing is installed yet', async () => {
    const bare = join(folder, 'bare');
    mkdirSync(bare);
    cpSync(join(root, 'stemma'), join(bare, 'stemma'));
    const { code, stdout, stderr } = await run(join(bare, 'stemma'), ['histories'], { cwd: folder });

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('not installed yet');
    expect(stderr).toContain('npm start');
  });
});

type Ended = { code: number | null; stdout: string; stderr: string };

function run(
  program: string,
  args: readonly string[],
  { cwd, input = '' }: { cwd: string; input?: string },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // A short PATH: the script must not depend on the Node.js that is found there.
    const child = spawn(program, args, { cwd, env: { PATH: '/usr/bin:/bin' } });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
    // A program may end without reading its input.
    child.stdin.on('error', () => undefined).end(input);
  });
}
