import { reasonOf } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { FirstBranch } from '../record-program.ts';
import { openWorkspace, type WatchedWorkspace } from './open-workspace.ts';
import { recordEffects, type RecordedFiles } from './record-effects.ts';
import type { TakenSnapshots, Workspace } from './types.ts';

type Around = {
  readonly home: string;
  readonly env: Workspace['env'];
  readonly say: (sentence: string) => void;
};

/** The workspace that `--workspace [DIR]` names; undefined: none is asked for. @throws E_USAGE, E_GIT_MISSING */
export const workspaceOf = async (asked: unknown, around: Around): Promise<WatchedWorkspace | undefined> => {
  if (asked === undefined || asked === false) return undefined;
  return openWorkspace({
    directory: typeof asked === 'string' && asked !== '' ? asked : process.cwd(),
    ...around,
  });
};

/** A run that has ended: where its first call is recorded, and what the last look at its files brought. */
type EndedRun = {
  readonly run: string;
  readonly in: FirstBranch | undefined;
  readonly workspace: WatchedWorkspace | undefined;
  readonly looked: Promise<TakenSnapshots> | undefined;
};

/**
 * Records what became of the files of a run. That it fails is said, and is no failure of the program.
 *
 * @returns undefined: nobody asked for it, or it is not recorded
 */
export const recordFiles = async (
  open: () => Promise<Home>,
  { run, in: branch, workspace, looked }: EndedRun,
  say: (sentence: string) => void,
): Promise<RecordedFiles | undefined> => {
  if (workspace === undefined || looked === undefined) return undefined;
  try {
    const taken = await looked;
    if (branch === undefined) {
      say('what became of the files is not recorded, as no call is');
      return undefined;
    }
    const recorded = await recordEffects(await open(), { run, root: workspace.root, ...branch, taken });
    say(sentenceOf(recorded));
    return recorded;
  } catch (error) {
    say(`what became of the files is not recorded: ${reasonOf(error)}`);
    return undefined;
  }
};

const sentenceOf = ({ files, changes, notKept }: RecordedFiles): string => {
  const left =
    notKept.length === 0
      ? ''
      : `; ${notKept.length} by hash only, as they are large, binary or have secrets: ${notKept.slice(0, 5).join(', ')}`;
  return `recorded ${files} files, and ${changes} changes of files${left}`;
};
