import type { WideJson } from '@stemma/canonical';
import type { AppliedFrame } from '@stemma/history';
import { putRow, type Rows } from '@stemma/row-store';
import { IMPORTS } from './tables.ts';

/** Keeps what the newest import says of its file. */
export const foldImports = ({ history, seq, events }: AppliedFrame, rows: Rows): void => {
  events.forEach((event, index) => {
    if (event.type !== 'ImportRecorded') return;
    const { format, version = null, title = null, summary } = event;
    putRow(rows, IMPORTS, { history, seq, index, format, version, title, summary: summary as WideJson });
  });
};
