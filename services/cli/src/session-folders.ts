import { fail } from '@stemma/errors';
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listFolder, sizeOf } from './import-files.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where programs of this user keep their sessions. */
type SessionProgram = {
  /** What `stemma import NAME` takes. */
  readonly name: string;
  readonly program: string;
  readonly folders: (env: Env, home: string) => readonly string[];
};

const PROGRAMS: readonly SessionProgram[] = [
  {
    name: 'claude',
    program: 'Claude Code',
    folders: (env, home) => [join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'projects')],
  },
  {
    name: 'codex',
    program: 'Codex CLI',
    folders: (env, home) =>
      ['sessions', 'archived_sessions'].map((folder) =>
        join(env['CODEX_HOME'] ?? join(home, '.codex'), folder),
      ),
  },
  {
    name: 'gemini',
    program: 'Gemini CLI',
    folders: (env, home) => [join(env['GEMINI_CLI_HOME'] ?? home, '.gemini', 'tmp')],
  },
  {
    name: 'copilot',
    program: 'Copilot CLI',
    folders: (env, home) => [join(env['COPILOT_HOME'] ?? join(home, '.copilot'), 'session-state')],
  },
  {
    name: 'cline',
    program: 'Cline in VS Code',
    folders: (_env, home) =>
      ['.config', join('Library', 'Application Support')].map((settings) =>
        join(home, settings, 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev', 'tasks'),
      ),
  },
];

export const PROGRAM_NAMES = PROGRAMS.map(({ name }) => name).join(', ');

/** What is found of a program: files by their names and sizes; none is opened. */
export type FoundSessions = {
  readonly name: string;
  readonly program: string;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
};

const foldersThere = ({ folders }: SessionProgram, env: Env): readonly string[] =>
  folders(env, env['HOME'] ?? homedir()).filter(
    (folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
  );

/** The folders that hold files which can be imported. */
export const discoverImports = (env: Env): readonly FoundSessions[] =>
  PROGRAMS.flatMap((known) =>
    foldersThere(known, env).flatMap((folder) => {
      const { name, program } = known;
      const files = filesIn(folder);
      const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0);
      return files.length === 0 ? [] : [{ name, program, folder, files: files.length, bytes }];
    }),
  );

const filesIn = (folder: string): readonly string[] => {
  const empty: readonly string[] = [];
  try {
    return listFolder(folder);
  } catch {
    // A folder that this user may not read.
    return empty;
  }
};

/**
 * The paths that arguments name: `claude` stands for the sessions of Claude Code, where no file has that name.
 *
 * @throws E_IO if the program has no sessions here
 */
export const pathsOfPrograms = (given: readonly string[], env: Env): readonly string[] =>
  given.flatMap((path) => {
    const known = existsSync(path) ? undefined : PROGRAMS.find(({ name }) => name === path);
    if (known === undefined) return [path];
    const folders = foldersThere(known, env);
    if (folders.length === 0) {
      const looked = known.folders(env, env['HOME'] ?? homedir()).join(', ');
      throw fail('E_IO', `there are no sessions of ${known.program} in ${looked}`);
    }
    return folders;
  });
