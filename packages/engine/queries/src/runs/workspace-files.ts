import { compareCodePoints } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isSameFile } from '@stemma/events';
import type {
  CallAddress,
  EffectCause,
  FileChange,
  FileContents,
  HistoryEvent,
  RecordedFileState,
} from '@stemma/events';
import type { Projection } from '@stemma/projector';
import {
  historiesOfRun,
  listFileChanges,
  listRunsIn,
  listSnapshotParts,
  type SnapshotPartRow,
} from '@stemma/read-models';
import { eventAt } from './event-at.ts';

/** A file as it was found, and whether its bytes are kept. `bytes` null: they are not. */
export type KeptFile = {
  readonly path: string;
  readonly state: RecordedFileState;
  readonly contents: FileContents;
  readonly bytes: Uint8Array | null;
};

/** The files of a run when it started. */
export type RecordedWorkspace = {
  readonly run: string;
  readonly directory: string;
  readonly files: readonly KeptFile[];
  /** Folders with repositories of their own, of which nothing is recorded. */
  readonly repositories: readonly string[];
  /** Files of which nothing is recorded, as they were too many. */
  readonly left: number;
};

/** What a change is put down to, and between which calls it was found. */
export type FoundChange = {
  readonly run: string;
  readonly snapshot: number;
  readonly from: CallAddress | null;
  readonly until: CallAddress | null;
  readonly cause: EffectCause;
};

/** A change of a file, as one look at the files found it. */
export type ChangeOfFile = FoundChange & Pick<FileChange, 'change' | 'before' | 'after' | 'contents'>;

/** The life of a file in a run. `start` null: it was not there. */
export type FileInRun = {
  readonly run: string;
  readonly startedAt: number;
  readonly start: RecordedFileState | null;
  readonly changes: readonly ChangeOfFile[];
};

/** A file that differs between two calls. Null: it was not there. */
export type FileDifference = {
  readonly path: string;
  readonly before: KeptFile | null;
  readonly after: KeptFile | null;
  /** Of two calls of one run what lies between them; else nothing. */
  readonly changes: readonly FoundChange[];
};

/** A call of a run: when it was made, in milliseconds since 1970. */
export type CallOfWorkspace = { readonly run: string; readonly at: number };

/** The files of the workspaces in which programs ran. */
export type WorkspaceFiles = {
  /** The files of a run when it started; undefined: they are not recorded, or not all parts of them. */
  workspace(run: string): Promise<RecordedWorkspace | undefined>;
  /** The life of a file in each run that a history has to do with and that had it. @param path from the root */
  file(history: string, path: string): Promise<readonly FileInRun[]>;
  /** The files that differ between two calls, by path. @throws E_FILES_NOT_RECORDED */
  filesBetween(a: CallOfWorkspace, b: CallOfWorkspace): Promise<readonly FileDifference[]>;
};

/** A snapshot of which all parts are recorded. */
type Snapshot = {
  readonly number: number;
  readonly startedAt: number;
  readonly parts: readonly SnapshotPartRow[];
};
type Snapshots = { readonly history: string; readonly run: string; readonly all: readonly Snapshot[] };
type EffectRecorded = Extract<HistoryEvent, { type: 'EffectRecorded' }>;

export const openWorkspaceFiles = (projection: Projection): WorkspaceFiles => {
  const effectAt = async (history: string, location: EventRef): Promise<EffectRecorded> =>
    eventAt(await projection.payloads.events(history, location.seq), location, 'EffectRecorded');
  const snapshotsOf = (run: string): Promise<Snapshots | undefined> =>
    projection.read((rows) => {
      for (const history of historiesOfRun(rows, run)) {
        const all = wholeSnapshots(listSnapshotParts(rows, history, run));
        if (all.length > 0) return { history, run, all };
      }
      return undefined;
    });
  const recorded = async (run: string): Promise<Snapshots> => {
    const found = await snapshotsOf(run);
    if (found !== undefined) return found;
    throw fail('E_FILES_NOT_RECORDED', `the files of the run ${run.slice(0, 140)} are not recorded`);
  };
  async function* eventsOf(
    { history }: Snapshots,
    snapshots: readonly Snapshot[],
  ): AsyncIterable<EffectRecorded> {
    for (const { parts } of snapshots) for (const { location } of parts) yield effectAt(history, location);
  }
  /** All files after the snapshots up to one, each with its bytes. */
  const filesAfter = async (found: Snapshots, count: number): Promise<Map<string, KeptFile>> => {
    const files = new Map<string, KeptFile>();
    for await (const event of eventsOf(found, found.all.slice(0, count)))
      event.effect.files.forEach((file, number) => {
        const kept = keptFile(event, file, number);
        if (kept === null) files.delete(file.path);
        else files.set(file.path, kept);
      });
    return files;
  };
  /** A file after the snapshots up to one: where it changed last, or as it was at the start. */
  const fileAfter = async (found: Snapshots, count: number, path: string): Promise<KeptFile | null> => {
    const { history, run, all } = found;
    const changes = await projection.read((rows) => listFileChanges(rows, history, path));
    const last = changes
      .filter((row) => row.run === run && row.snapshot < count && row.snapshot < all.length)
      .at(-1);
    const parts = all[0]?.parts ?? [];
    const start = parts.findLast(({ first }) => first !== null && compareCodePoints(first, path) <= 0);
    const location = last?.location ?? start?.location;
    if (location === undefined) return null;
    const event = await effectAt(history, location);
    const number = last?.number ?? event.effect.files.findIndex((file) => file.path === path);
    const file = event.effect.files[number];
    return file === undefined ? null : keptFile(event, file, number);
  };
  return {
    workspace: async (run) => {
      await projection.catchUp();
      const found = await snapshotsOf(run);
      if (found === undefined) return undefined;
      const files = await filesAfter(found, 1);
      const first = await effectAt(found.history, (found.all[0]?.parts[0] as SnapshotPartRow).location);
      const { directory, repositories, left } = first.effect;
      return { run, directory, files: [...files.values()], repositories, left };
    },
    file: async (history, path) => {
      await projection.catchUp();
      const runs = await projection.read((rows) => listRunsIn(rows, history).map(({ run }) => run));
      const lives: FileInRun[] = [];
      for (const run of runs) {
        const found = await snapshotsOf(run);
        if (found === undefined) continue;
        const start = (await fileAfter(found, 1, path))?.state ?? null;
        const rows = await projection.read((reader) => listFileChanges(reader, found.history, path));
        const changes: ChangeOfFile[] = [];
        for (const row of rows) {
          if (row.run !== run || row.snapshot >= found.all.length) continue;
          const event = await effectAt(found.history, row.location);
          const file = event.effect.files[row.number];
          if (file === undefined) continue;
          const { change, before, after, contents } = file;
          changes.push({ ...foundChange(event, file), change, before, after, contents });
        }
        if (start !== null || changes.length > 0)
          lives.push({ run, startedAt: found.all[0]?.startedAt ?? 0, start, changes });
      }
      return lives.sort((a, b) => a.startedAt - b.startedAt || compareCodePoints(a.run, b.run));
    },
    filesBetween: async (a, b) => {
      await projection.catchUp();
      const [first, second] = [await recorded(a.run), await recorded(b.run)];
      const [from, to] = [countAt(first, a.at), countAt(second, b.at)];
      if (a.run !== b.run || from > to)
        return differences(await filesAfter(first, from), await filesAfter(second, to));
      const changes = new Map<string, FoundChange[]>();
      for await (const event of eventsOf(second, second.all.slice(from, to)))
        for (const file of event.effect.files)
          changes.set(file.path, [...(changes.get(file.path) ?? []), foundChange(event, file)]);
      const differing: FileDifference[] = [];
      for (const path of [...changes.keys()].sort(compareCodePoints)) {
        const [before, after] = [await fileAfter(second, from, path), await fileAfter(second, to, path)];
        if (!isSame(before, after)) differing.push({ path, before, after, changes: changes.get(path) ?? [] });
      }
      return differing;
    },
  };
};

/** The snapshots of a run up to the first one of which a part is missing. */
const wholeSnapshots = (rows: readonly SnapshotPartRow[]): readonly Snapshot[] => {
  const whole: Snapshot[] = [];
  for (let at = 0; at < rows.length;) {
    const first = rows[at] as SnapshotPartRow;
    const parts = rows.slice(at, at + first.parts).filter(({ snapshot }) => snapshot === first.snapshot);
    if (first.snapshot !== whole.length || parts.length !== first.parts) break;
    whole.push({ number: first.snapshot, startedAt: first.startedAt, parts });
    at += parts.length;
  }
  return whole;
};

/** How many of the snapshots a call was made after: those whose changes were made before the first look that began with it. */
const countAt = ({ all }: Snapshots, at: number): number => {
  const later = all.findIndex(({ parts }) => (parts[0]?.since ?? -1) >= at);
  return later < 0 ? all.length : later;
};

const foundChange = ({ run, effect }: EffectRecorded, { cause }: FileChange): FoundChange => {
  const { snapshot, from, until } = effect;
  const none: EffectCause = { why: 'none', call: null, toolCall: null, tool: null, of: 0 };
  return { run, snapshot, from, until, cause: cause ?? none };
};

/** @returns null: the file was not there any more */
const keptFile = (
  { payload }: EffectRecorded,
  { path, after, contents }: FileChange,
  number: number,
): KeptFile | null => {
  if (after === null || contents === null) return null;
  return { path, state: after, contents, bytes: contents === 'kept' ? bytesIn(payload, number) : null };
};

/** The bytes of a file in the payload; null: it has none. */
const bytesIn = (payload: EffectRecorded['payload'], number: number): Uint8Array | null => {
  const list = payload['data_contents'];
  const entry: unknown = Array.isArray(list)
    ? list.find((each: unknown) => Array.isArray(each) && each[0] === number)
    : undefined;
  if (!Array.isArray(entry)) return null;
  const [, encoding, text] = entry as readonly unknown[];
  return typeof text === 'string' ? Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8') : null;
};

const differences = (
  before: ReadonlyMap<string, KeptFile>,
  after: ReadonlyMap<string, KeptFile>,
): readonly FileDifference[] =>
  [...new Set([...before.keys(), ...after.keys()])].sort(compareCodePoints).flatMap((path) => {
    const [a, b] = [before.get(path) ?? null, after.get(path) ?? null];
    return isSame(a, b) ? [] : [{ path, before: a, after: b, changes: [] }];
  });

const isSame = (a: KeptFile | null, b: KeptFile | null): boolean =>
  a === null || b === null ? a === b : isSameFile(a.state, b.state);
