import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { replaceFileSync } from '@stemma/machine';
import type { RecordedProgram, RecordedWorkspace } from '@stemma/queries';
import type { RerunOptions } from '@stemma/rerun';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { oneOf } from './rerun-options.ts';

export const WORKSPACE_OPTION: readonly [syntax: string, description: string] = [
  '--workspace <where>',
  'here: the command runs in its directory; copy: in a copy of the files that the recorded run started with, which goes afterwards (default: here)',
];

/** The files that a command runs with, and its directory in them, from their root. */
export type WorkspaceToCopy = { readonly files: RecordedWorkspace; readonly directory: string };

/** True if the command is to run in a copy. @throws E_USAGE */
export const wantsCopy = (options: Readonly<Record<string, unknown>>): boolean =>
  oneOf(options, 'workspace', ['here', 'copy']) === 'copy';

/**
 * The files that a recorded run started with.
 *
 * @throws E_FILES_NOT_RECORDED, E_WORKSPACE_NOT_KEPT if the bytes of one are not kept, E_USAGE if the command ran outside of them
 */
export const workspaceToCopy = async (
  home: Pick<Home, 'calls'>,
  run: string | null,
  program: RecordedProgram | undefined,
): Promise<WorkspaceToCopy> => {
  const files = run === null ? undefined : await home.calls.workspace(run);
  if (files === undefined)
    throw fail('E_FILES_NOT_RECORDED', 'the files that the recorded run started with are not recorded');
  const missing = [
    ...files.repositories.map((path) => `${path} (a repository of its own)`),
    ...files.files.flatMap(({ path, contents, bytes, state }) =>
      bytes !== null && sha256Hex(bytes) === state.sha256 && isWithin(path) ? [] : [`${path} (${contents})`],
    ),
    ...(files.left === 0 ? [] : [`${files.left} files that nobody looked at`]),
  ];
  if (missing.length > 0)
    throw fail(
      'E_WORKSPACE_NOT_KEPT',
      `the files that the run started with are not all kept: ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ` and ${missing.length - 10} others` : ''}`,
    );
  const directory = relative(files.directory, program?.directory ?? files.directory);
  if (directory.split(sep)[0] === '..')
    throw fail(
      'E_USAGE',
      `the recorded command ran outside of its workspace ${JSON.stringify(files.directory)}: a copy would not be what it works on`,
    );
  return { files, directory };
};

/** True for a path that stays below its root, without secrets taken out of it. */
const isWithin = (path: string): boolean =>
  !path.includes('[redacted:') &&
  path.split('/').every((name, i) => !['', '.', '..'].includes(name) && !(i === 0 && name === '.git'));

/** A copy in a temporary folder. */
type WorkspaceCopy = {
  /** Where the command runs. */
  readonly directory: string;
  /** The options of the rerun, which know where the files are now. */
  readonly judged: RerunOptions;
  readonly forget: () => void;
};

/** Makes a copy of the files of a run. */
export const copyWorkspace = ({ files, directory }: WorkspaceToCopy, judged: RerunOptions): WorkspaceCopy => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'stemma-workspace-')));
  const forget = (): void => rmSync(root, { recursive: true, force: true });
  try {
    // Links last: nothing is written through one.
    const inOrder = [...files.files].sort((a, b) => Number(isLink(a)) - Number(isLink(b)));
    for (const file of inOrder) {
      const path = join(root, ...file.path.split('/'));
      const bytes = file.bytes ?? new Uint8Array();
      mkdirSync(dirname(path), { recursive: true });
      if (isLink(file)) {
        symlinkSync(Buffer.from(bytes), path);
        continue;
      }
      replaceFileSync(path, bytes, { synced: false });
      chmodSync(path, file.state.mode === '100755' ? 0o755 : 0o644);
    }
    const own = join(root, directory);
    mkdirSync(own, { recursive: true });
    const folders = [...judged.folders, { recorded: files.directory, now: root }];
    return { directory: own, judged: { ...judged, folders }, forget };
  } catch (error) {
    forget();
    throw error;
  }
};

const isLink = ({ state }: RecordedWorkspace['files'][number]): boolean => state.mode === '120000';
