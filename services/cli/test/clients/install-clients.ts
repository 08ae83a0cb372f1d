import { cacheFolder, onlyLong } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Where clients are: a folder with `node_modules`, or with a virtual environment of Python. */
export type InstalledClients = { readonly folder: string } | { readonly missing: string };

const LANGUAGES = {
  javascript: { lock: 'pnpm-lock.yaml' },
  python: { lock: 'requirements.txt' },
} as const;
export type ClientLanguage = keyof typeof LANGUAGES;

/**
 * The clients of a language, exactly as their lock file says, in a long run: they and their tests take minutes. They stay in the
 * cache of the tests.
 */
export const installClients = async (language: ClientLanguage): Promise<InstalledClients> => {
  const missing = onlyLong(`the clients for ${language} take a GB`);
  if (missing !== undefined) return { missing };
  const source = join(import.meta.dirname, language);
  const { lock } = LANGUAGES[language];
  const hash = createHash('sha256')
    .update(readFileSync(join(source, lock)))
    .digest('hex');
  const cache = cacheFolder();
  const pointer = join(cache, `clients-${language}-${hash.slice(0, 12)}`);
  // A virtual environment cannot be moved: this file says where it is, once it is whole.
  if (existsSync(pointer)) {
    const folder = readFileSync(pointer, 'utf8');
    if (existsSync(folder)) return { folder };
  }
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${pointer}-`);
  cpSync(source, folder, { recursive: true });
  try {
    await INSTALLERS[language](folder);
  } catch (error) {
    return { missing: `the clients for ${language} cannot be installed: ${lastLine(error)}` };
  }
  writeFileSync(`${folder}/pointer`, folder);
  renameSync(`${folder}/pointer`, pointer);
  return { folder };
};

const INSTALLERS: Readonly<Record<ClientLanguage, (folder: string) => Promise<void>>> = {
  javascript: async (folder) => {
    const root = join(import.meta.dirname, '../../../../package.json');
    const { packageManager } = JSON.parse(readFileSync(root, 'utf8')) as { packageManager: string };
    await run('npx', ['-y', packageManager, 'install', '--frozen-lockfile'], folder);
  },
  python: async (folder) => {
    await run('python3', ['-m', 'venv', 'environment'], folder);
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '-r', 'requirements.txt'];
    await run(join(folder, 'environment/bin/python'), ['-m', 'pip', 'install', ...options], folder);
  },
};

const run = async (program: string, args: readonly string[], cwd: string): Promise<void> => {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
};

const lastLine = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
  return ((stderr ?? '').trim() || message).split('\n').at(-1) ?? message;
};

/** The environment of a program that uses clients: their programs are found first. */
export const pathWith = (folder: string): string =>
  [join(folder, 'environment/bin'), join(folder, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(
    delimiter,
  );
