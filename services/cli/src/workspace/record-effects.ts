import { sha256Hex } from '@stemma/canonical';
import type { FileChange } from '@stemma/events';
import { MOST_FILES, recordOfSnapshot } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import {
  boundsOf,
  callsWithin,
  putDown,
  toolCallsIn,
  type CallOfRun,
  type ToolCallOfRun,
} from './put-down.ts';
import type { ChangedFile, TakenSnapshots, WorkspaceSnapshot } from './types.ts';

/** What a run did to its workspace, and where its first call is recorded. */
export type RunEffects = {
  readonly run: string;
  readonly root: string;
  readonly history: string;
  readonly branchId: number;
  readonly taken: TakenSnapshots;
};

/** What was recorded of files: how many were there at the start and changed, and those whose bytes are not kept. */
export type RecordedFiles = {
  readonly files: number;
  readonly changes: number;
  readonly notKept: readonly string[];
};

/** Records which files were there when a run started, and which changed, each put down to a tool call. @throws as `submit` */
export const recordEffects = async (home: Home, effects: RunEffects): Promise<RecordedFiles> => {
  const { run, root, history, branchId, taken } = effects;
  const calls = await callsOf(home, effects);
  const readTools = openToolCalls(home);
  const encode = encoder(home.privacy.redacts, taken.bytes);
  let changes = 0;
  const notKept = new Set<string>();
  for (const [number, snapshot] of taken.snapshots.entries()) {
    const { startedAt, endedAt, since, repositories, left } = snapshot;
    const window = { since: since ?? startedAt, endedAt };
    const within: CallOfRun[] = [];
    for (const call of since === null ? [] : callsWithin(window, calls))
      within.push({ ...call, toolCalls: await readTools(call) });
    const causeOf = since === null ? null : putDown(within, root);
    const bounds = since === null ? { from: null, until: null } : boundsOf(window, calls);
    if (since !== null) changes += snapshot.files.length;
    const parts = partsOf(snapshot);
    for (const [part, changed] of parts.entries()) {
      const files = changed.map((file) => ({
        ...encode.entry(file, since === null),
        cause: causeOf?.(file.path) ?? null,
      }));
      const outcome = await home.submit({
        id: recordOfSnapshot(run, number, part),
        ...{ history, branchId, by: { recorder: 'record' } },
        steps: [
          {
            ...{ op: 'record_effect', run, startedAt, endedAt, snapshot: number, part, parts: parts.length },
            ...{ since, ...bounds, directory: root.toWellFormed(), files, left },
            repositories: part === 0 ? repositories.slice(0, MOST_FILES) : [],
            contents: files.flatMap((file, i) => encode.contents(file, i)),
          },
        ],
      });
      for (const event of outcome.events)
        if (event.type === 'EffectRecorded')
          for (const { path, contents } of event.effect.files)
            if (contents !== null && contents !== 'kept') notKept.add(path);
    }
  }
  return { files: taken.snapshots[0]?.files.length ?? 0, changes, notKept: [...notKept] };
};

/** The calls of the run, wherever they are recorded, without their tool calls. */
const callsOf = async (home: Home, { run, history, branchId }: RunEffects): Promise<readonly CallOfRun[]> => {
  const { chooseRun } = await import('@stemma/reruns');
  const { branches } = await chooseRun(home, branchRefOf(history, branchId), null, run);
  return branches.flatMap((branch) => {
    const attempts = [...branch.attempts].sort((a, b) => a.at - b.at);
    return attempts.map((attempt, i): CallOfRun => {
      const { at, firstByteMs, durationMs } = attempt;
      return {
        address: { history: branch.history, branchId: attempt.branchId, attemptId: attempt.attemptId },
        at,
        answeredAt: firstByteMs === null ? null : at + firstByteMs,
        endedAt: durationMs === null ? null : at + durationMs,
        nextAt: attempts[i + 1]?.at ?? null,
        hasLed: attempt.ledTo.length > 0,
        toolCalls: [],
      };
    });
  });
};

/** Reads the tool calls of an answer once. */
const openToolCalls = (home: Home): ((call: CallOfRun) => Promise<readonly ToolCallOfRun[]>) => {
  const known = new Map<string, readonly ToolCallOfRun[]>();
  return async ({ address: { history, attemptId } }) => {
    const before = known.get(attemptId);
    if (before !== undefined) return before;
    const { answer } = await home.calls.find(history, attemptId);
    const made = toolCallsIn(answer);
    known.set(attemptId, made);
    return made;
  };
};

/** The most bytes of a part, and those from which on it may end before. */
const PART = { most: 2 * 1024 * 1024, least: 256 * 1024 };

/**
 * The files of a snapshot in parts. Where a part ends follows from names more than from sizes, so that of two runs most parts
 * have the same bytes, and are stored once.
 */
const partsOf = ({ files }: WorkspaceSnapshot): readonly (readonly ChangedFile[])[] => {
  const parts: ChangedFile[][] = [[]];
  let size = 0;
  for (const file of files) {
    const own = file.after?.contents === 'kept' ? file.after.state.size : 0;
    const last = parts.at(-1) ?? [];
    if (last.length >= MOST_FILES || (size + own > PART.most && last.length > 0)) {
      parts.push([file]);
      size = own;
    } else {
      last.push(file);
      size += own;
    }
    if (size >= PART.least && sha256Hex(file.path).startsWith('0')) {
      parts.push([]);
      size = 0;
    }
  }
  return parts.filter((part, i) => part.length > 0 || i === 0);
};

type Entry = Omit<FileChange, 'cause'>;

/** The bytes of a file of a part, by its number in it. */
type EntryContents = { readonly file: number; readonly encoding: 'text' | 'base64'; readonly text: string };

/** How files are written down. @param redacts binary files are not kept: nobody could surely take secrets out of them */
const encoder = (redacts: boolean, bytes: TakenSnapshots['bytes']) => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const textOf = (found: Uint8Array): string | undefined => {
    try {
      return decoder.decode(found);
    } catch {
      return undefined;
    }
  };
  const bytesOf = ({ sha256 }: { readonly sha256: string | null }): Uint8Array | undefined =>
    sha256 === null ? undefined : bytes.get(sha256);
  return {
    entry: ({ path, before, after }: ChangedFile, isStart: boolean): Entry => {
      const found = after?.contents === 'kept' ? bytesOf(after.state) : undefined;
      const isWithheld = redacts && found !== undefined && textOf(found) === undefined;
      return {
        path,
        change: isStart ? 'present' : before === null ? 'added' : after === null ? 'removed' : 'changed',
        before,
        after: after?.state ?? null,
        contents: isWithheld ? 'binary' : (after?.contents ?? null),
      };
    },
    contents: ({ after, contents }: Entry, file: number): readonly EntryContents[] => {
      const found = after === null || contents !== 'kept' ? undefined : bytesOf(after);
      if (found === undefined) return [];
      const text = textOf(found);
      return text === undefined
        ? [{ file, encoding: 'base64', text: Buffer.from(found).toString('base64') }]
        : [{ file, encoding: 'text', text }];
    },
  };
};
