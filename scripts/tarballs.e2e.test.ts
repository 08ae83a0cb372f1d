import { onlyLong } from '@stemma/test-kit';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

// They are installed from the registry, and by npm: too much for each run on a developer's machine.
const missing = onlyLong('packs and installs packages from the registry');

const MESSAGES = `[{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello.' }]`;

/** What a person writes first, in each way in which Node.js loads it. */
const PROGRAMS = {
  'module.mjs': `
import { openRecorder } from '@stemma/recorder';
const ctx = await openRecorder({ home: process.argv[2], history: 'talk', recorder: 'agent' });
console.log((await ctx.recordCall(${MESSAGES})).label);
await ctx.close();
`,
  'common.cjs': `
const { openRecorder } = require('@stemma/recorder');
openRecorder({ home: process.argv[2], history: 'talk', recorder: 'agent' }).then(async (ctx) => {
  console.log((await ctx.recordCall(${MESSAGES})).label);
  await ctx.close();
});
`,
} as const;

const TYPED = `
import { openRecorder, type Recorder } from '@stemma/recorder';
import { rerun } from '@stemma/recorder/rerun';
export const same = async (): Promise<number> => (await rerun('run.stemma', ['node', 'agent.mjs'])).exit;
export const open = (): Promise<Recorder> => openRecorder({ url: 'http://127.0.0.1:1', history: 'talk', recorder: 'agent' });
export const record = async (ctx: Recorder): Promise<number> => (await ctx.recordCall([{ role: 'user', content: 'Hello.' }])).kept;
// @ts-expect-error a history has a name
export const wrong = openRecorder({ url: 'http://127.0.0.1:1', history: 3, recorder: 'agent' });
`;

const QUIETLY = ['--no-audit', '--no-fund'] as const;

const TYPESCRIPTS = [
  ['nodenext', 'nodenext', 'typed.mts'],
  ['nodenext', 'nodenext', 'typed.cts'],
  ['esnext', 'bundler', 'typed.ts'],
] as const;

describe('packages in an empty project', () => {
  let folder: string;
  let tarballs: readonly string[];

  beforeAll(() => {
    if (missing !== undefined) return;
    folder = mkdtempSync(join(tmpdir(), 'stemma-tarballs-'));
    tarballs = execFileSync('node', [join(root, 'scripts/tarballs/main.ts'), join(folder, 'tarballs')], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
  });
  afterAll(() => {
    if (missing === undefined) rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing);
  });

  test('no tarball names a package of the workspace or a source', () => {
    for (const tarball of tarballs) {
      const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
      const manifest = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
      expect(manifest).not.toMatch(/workspace:|catalog:|@stemma\/(?!recorder)/);
      expect(names.filter((name) => /(?<!\.d)\.tsx?$|\/test\/|node_modules/.test(name))).toEqual([]);
    }
  });

  test.each(['22', '24'])('install and work on Node.js %s', async (version) => {
    const project = mkdtempSync(join(folder, `node-${version}-`));
    writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true}');
    const npm = (...args: readonly string[]): string =>
      execFileSync('npm', [...args], { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    npm(
      'install',
      '--no-audit',
      '--no-fund',
      `node@${version}`,
      'typescript@6',
      '@types/node@22',
      ...tarballs,
    );
    const env = {
      ...process.env,
      PATH: [join(project, 'node_modules/node/bin'), process.env['PATH']].join(delimiter),
      STEMMA_HOME: join(project, 'home'),
    };
    const run = (program: string, ...args: readonly string[]): string =>
      execFileSync(program, args, { cwd: project, env, encoding: 'utf8' });
    expect(run('node', '--version')).toMatch(new RegExp(`^v${version}\\.`));

    for (const [file, text] of Object.entries(PROGRAMS)) {
      writeFileSync(join(project, file), text);
      expect(run('node', file, join(project, `home-of-${file}`))).toBe('@c1\n');
    }
    const messages = join(project, 'messages.json');
    writeFileSync(messages, '[{"role":"user","content":"Hello."},{"role":"assistant","content":"Yes?"}]');
    run('npx', 'stemma', 'import', messages, '--history', 'mine');
    expect(run('npx', 'stemma', 'thread', 'mine', '@c1', '--provider', 'openai')).toBe(
      '[{"role":"user","content":"Hello."}]',
    );
    const manifest = readFileSync(join(root, 'package.json'), 'utf8');
    expect(run('npx', 'stemma', '--version').trim()).toBe(
      (JSON.parse(manifest) as { version: string }).version,
    );
    await expectThePage(project, env);
  });

  test('have types for every way in which TypeScript resolves them', () => {
    const project = mkdtempSync(join(folder, 'typescript-'));
    writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true}');
    const run = (program: string, ...args: readonly string[]): string =>
      execFileSync(program, args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    run('npm', 'install', ...QUIETLY, 'typescript@6', '@types/node@22', ...tarballs);
    for (const [module, resolution, file] of TYPESCRIPTS) {
      writeFileSync(join(project, file), TYPED);
      const options = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node'];
      run('npx', 'tsc', ...options, '--module', module, '--moduleResolution', resolution, file);
    }
  });
});

/** `stemma up` serves the page and answers a question that a process of its own computes. */
const expectThePage = async (cwd: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const up = spawn('node', ['node_modules/stemma/services/cli/bin/stemma.mjs', 'up', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    const url = await new Promise<string>((resolve, reject) => {
      up.stdout.on('data', (piece: Buffer) => {
        said += piece.toString();
        const found = /http:\/\/\S+/.exec(said);
        if (found !== null) resolve(found[0]);
      });
      up.on('exit', () => reject(new Error(`stemma up ended: ${said}`)));
    });
    const page = await (await fetch(url)).text();
    expect(page).toContain('<script');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    expect((await fetch(url + script)).status).toBe(200);
    const found = await fetch(`${url}/api/histories/mine/select?selector=${encodeURIComponent('@t0 .cb')}`);
    expect(await found.json()).toMatchObject({ ids: ['m0'] });
  } finally {
    up.kill('SIGTERM');
    if (up.exitCode === null) await once(up, 'exit');
  }
};
