import { compareCodePoints } from '@stemma/canonical';
import { isSameFile } from '@stemma/events';
import { openListing } from './list-files.ts';
import { newKnownFiles, scanFiles, type ScannedFiles } from './scan-files.ts';
import type { ChangedFile, TakenSnapshots, Workspace, WorkspaceSnapshot } from './types.ts';

/** Takes snapshots of a workspace, one after another, and keeps what changed from each to the next. */
export type SnapshotTaker = {
  readonly take: () => WorkspaceSnapshot;
  readonly taken: () => TakenSnapshots;
};

export const openSnapshots = (workspace: Workspace): SnapshotTaker => {
  const list = openListing(workspace);
  const known = newKnownFiles();
  const snapshots: WorkspaceSnapshot[] = [];
  let since: number | null = null;
  return {
    take: () => {
      const startedAt = Date.now();
      const scanned = scanFiles(workspace.root, list(), known, workspace.limits);
      const files = changesBetween(known.files, scanned.files);
      known.files = scanned.files;
      const { repositories, left } = scanned;
      const endedAt = Math.max(startedAt, Date.now());
      const snapshot = { startedAt, endedAt, since, files, repositories, left };
      // What changed nothing says only that nothing changed until then: the next one counts from it.
      if (since === null || files.length > 0) snapshots.push(snapshot);
      since = startedAt;
      return snapshot;
    },
    taken: () => ({ snapshots, bytes: known.bytes }),
  };
};

const changesBetween = (
  before: ScannedFiles['files'],
  after: ScannedFiles['files'],
): readonly ChangedFile[] => {
  const changes: ChangedFile[] = [];
  for (const [path, { state, contents }] of after) {
    const known = before.get(path)?.state ?? null;
    if (known === null || !isSameFile(known, state))
      changes.push({ path, before: known, after: { state, contents } });
  }
  for (const [path, { state }] of before)
    if (!after.has(path)) changes.push({ path, before: state, after: null });
  return changes.sort((a, b) => compareCodePoints(a.path, b.path));
};
