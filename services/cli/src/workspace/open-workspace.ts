import { fail } from '@stemma/errors';
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { withoutGit } from './list-files.ts';
import {
  WORKSPACE_LIMITS,
  type FromWorkspace,
  type TakenSnapshots,
  type ToWorkspace,
  type Workspace,
} from './types.ts';

const run = promisify(execFile);

/** A workspace while a program runs in it. */
export type WatchedWorkspace = {
  readonly root: string;
  /** A call began: the files are looked at soon. Calls that begin meanwhile share one look. */
  readonly callBegan: () => void;
  /** Looks at the files a last time. @returns all that was found */
  readonly end: () => Promise<TakenSnapshots>;
  readonly close: () => Promise<void>;
};

/** What was asked for with `--workspace [DIR]`. */
type AskedWorkspace = {
  readonly directory: string;
  readonly home: string;
  readonly env: Workspace['env'];
  readonly say: (sentence: string) => void;
};

/** A look that took longer than this is followed by a rest as long as what is above: it takes half of a processor at most. */
const SHORT = 50;

/**
 * Takes the first snapshot of a workspace, and watches it.
 *
 * @throws E_USAGE if there is no such directory, E_GIT_MISSING
 */
export const openWorkspace = async ({
  directory,
  home,
  env,
  say,
}: AskedWorkspace): Promise<WatchedWorkspace> => {
  const asked = resolve(directory);
  if (statSync(asked, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw fail('E_USAGE', `--workspace names ${JSON.stringify(directory)}, which is no directory`);
  const root = realpathSync(asked);
  const gitDirectory = mkdtempSync(join(tmpdir(), 'stemma-git-'));
  const forget = (): void => rmSync(gitDirectory, { recursive: true, force: true });
  try {
    await run('git', ['init', '--quiet', '--bare', '--template=', gitDirectory], { env: withoutGit(env) });
    const watched = watch(
      { root, home: realPathOf(resolve(home)), gitDirectory, env, limits: WORKSPACE_LIMITS },
      forget,
    );
    const first = await watched.first;
    for (const sentence of sentencesOf(first)) say(sentence);
    return watched;
  } catch (error) {
    forget();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw fail(
        'E_GIT_MISSING',
        'the program git is not on the PATH: without it nothing says which files count',
      );
    throw error;
  }
};

/** Without symbolic links, also of what is not there yet. */
const realPathOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
};

type Taken = Extract<FromWorkspace, { kind: 'taken' }>;

const watch = (
  workspace: Workspace,
  forget: () => void,
): WatchedWorkspace & { readonly first: Promise<Taken> } => {
  const worker = new Worker(new URL('./workspace-thread.ts', import.meta.url), { workerData: workspace });
  const tell = (message: ToWorkspace): void => worker.postMessage(message);
  const state = { isBusy: true, isWanted: false, isEnding: false };
  const first = Promise.withResolvers<Taken>();
  const ended = Promise.withResolvers<TakenSnapshots>();
  ended.promise.catch(() => undefined);
  const begin = (): void => {
    state.isBusy = true;
    state.isWanted = false;
    tell({ kind: 'snapshot' });
  };
  const rest = (milliseconds: number): void => {
    const next = (): void => {
      state.isBusy = false;
      if (state.isWanted) begin();
    };
    if (milliseconds <= 0) next();
    else setTimeout(next, milliseconds).unref();
  };
  worker.on('message', (message: FromWorkspace) => {
    if (message.kind === 'ended') {
      ended.resolve(message.taken);
      return;
    }
    first.resolve(message);
    if (!state.isEnding) rest(message.snapshot.endedAt - message.snapshot.startedAt - SHORT);
  });
  worker.on('error', (error) => {
    first.reject(error);
    ended.reject(error);
  });
  worker.on('exit', () => ended.reject(new Error('the thread that looks at the files ended')));
  begin();
  return {
    root: workspace.root,
    first: first.promise,
    callBegan: () => {
      if (state.isBusy) state.isWanted = true;
      else begin();
    },
    end: () => {
      state.isEnding = true;
      tell({ kind: 'snapshot' });
      tell({ kind: 'end' });
      return ended.promise;
    },
    close: async () => {
      await worker.terminate();
      forget();
    },
  };
};

/** What of the files is not recorded. */
const sentencesOf = ({ snapshot: { repositories, left } }: Taken): readonly string[] => [
  ...(repositories.length === 0
    ? []
    : [`repositories in the workspace are not followed: ${repositories.slice(0, 10).join(', ')}`]),
  ...(left === 0
    ? []
    : [`${left} files of the workspace are not recorded: there are too many, or their names are no UTF-8`]),
];
