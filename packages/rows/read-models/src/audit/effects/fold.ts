import type { AppliedFrame } from '@stemma/history';
import { putRow, type Rows } from '@stemma/row-store';
import { noteRun } from '../runs/fold-recorded-runs.ts';
import { hashOfPath } from './queries.ts';
import { FILE_CHANGES, WORKSPACE_SNAPSHOTS } from './tables.ts';

/** Keeps where the snapshots of workspaces are, and which files changed. */
export const foldEffects = ({ history, seq, events }: AppliedFrame, rows: Rows): void => {
  events.forEach((event, index) => {
    if (event.type !== 'EffectRecorded') return;
    const { run, startedAt, effect } = event;
    const { snapshot, part, parts, since, files } = effect;
    noteRun(rows, history, run);
    putRow(rows, WORKSPACE_SNAPSHOTS, {
      ...{ history, run, snapshot, part, seq, index, parts, since },
      started_at: startedAt,
      files: files.length,
      first: files[0]?.path ?? null,
    });
    files.forEach(({ path, change }, number) => {
      if (change === 'present') return;
      putRow(rows, FILE_CHANGES, {
        ...{ history, seq, index, number, run, snapshot, path, change },
        path_hash: hashOfPath(path),
      });
    });
  });
};
