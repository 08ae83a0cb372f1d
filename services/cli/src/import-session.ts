import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Imported } from './import-found.ts';

/** What a folder must hold to be a Logosphere session. */
const METADATA = 'vector_db/metadata.jsonl';

/** The most bytes of a file of a session. */
const MOST_BYTES = 2 * 1024 * 1024 * 1024;

/** What folders of the layouts of Logosphere hold that cannot be read, and what can be done. */
const OTHER_LAYOUTS: readonly (readonly [string, string])[] = [
  ['thinking/pool.yaml', 'a Logosphere session of the layout v2 (thinking/pool.yaml), which cannot be read'],
  ['session.yaml', 'a Logosphere session of the layout v2 (session.yaml), which cannot be read'],
  [
    'snapshots/index.json',
    'a Logosphere session of snapshots (snapshots/index.json): import the folder of one of them, which holds a vector_db',
  ],
];

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** True for a folder with a Logosphere session in it, of whatever layout. */
export const isSessionFolder = (path: string): boolean =>
  path !== '-' && [METADATA, ...OTHER_LAYOUTS.map(([file]) => file)].some((file) => isFile(join(path, file)));

/**
 * Records a Logosphere session; without a home it is only read.
 *
 * @throws coded errors of the reading (then nothing is recorded) and of the recording
 */
export const importSessionFolder = async (
  home: Home | null,
  folder: string,
  { name, signal }: { readonly name: string | null; readonly signal: AbortSignal },
): Promise<Imported> => {
  const { importSession, readSession } = await import('@stemma/pools');
  const metadata = readIn(folder, METADATA);
  if (metadata === null) {
    const other = OTHER_LAYOUTS.find(([file]) => isFile(join(folder, file)));
    if (other !== undefined) throw fail('E_FORMAT_UNKNOWN', `${folder} is ${other[1]}`);
    throw fail('E_IO', `${folder} holds no ${METADATA}`);
  }
  const session = readSession({
    metadata,
    embeddings: readIn(folder, 'vector_db/embeddings.npy'),
    interventions: readIn(folder, 'interventions.jsonl'),
    branches: readIn(folder, 'branches.json'),
    session: readIn(folder, 'session.json'),
  });
  const called = name ?? basename(resolve(folder));
  const imported =
    home === null
      ? null
      : await importSession(home, session, {
          name: called,
          source: { format: 'logosphere', sha256: sha256Hex(metadata) },
          signal,
        });
  const history = imported?.history ?? called;
  return {
    history,
    name: called,
    branch: history,
    branchId: 0,
    file: folder,
    format: 'logosphere',
    mapping: 'logosphere@1',
    conversations: 1,
    messages: session.rows.length,
    branches: session.branches.length,
    cycles: imported?.rounds ?? 0,
    nodes: session.rows.length,
    events: imported?.events ?? 0,
    says: session.differences,
    read: {
      messages: session.rows.length,
      branches: session.branches.length + 1,
      interventions: session.interventions.length,
      ...defined({ 'vectors of texts': session.vectors?.length }),
    },
    skipped: {},
    unknown: session.unknown,
    repeated: false,
  };
};

const readIn = (folder: string, path: string): Uint8Array | null => {
  const file = join(folder, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw fail('E_IO', `${file} is no file`);
  if (found.size > MOST_BYTES)
    throw fail('E_INPUT_TOO_LARGE', `${file} has ${found.size} bytes; ${MOST_BYTES} can be read`);
  return readFileSync(file);
};
