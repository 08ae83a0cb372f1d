import { expect, it } from 'vitest';
import { medianIfAny } from '../measure.ts';
import { figure, printAims } from '../table.ts';
import { withFailedPeers } from '../report.ts';
import { probePeer, takeFailedPeers } from './probe-peer.ts';

const failing = () =>
  Promise.reject(
    new Error(
      'the measurement replay/emmett failed (1):\nfile:///x.ts:3\n  throw it;\n\nError: SQLITE_BUSY: database is locked\n    at y',
    ),
  );

it('a peer that fails takes no figure away but its own, and the report names it', async () => {
  const ours = [3, 1, 2];
  const theirs = await probePeer<number>('emmett', 'replay/emmett', {}, failing);
  expect(theirs).toEqual([]);
  const ratio = medianIfAny(ours) / medianIfAny(theirs.map(({ value }) => value));
  expect([figure(medianIfAny(ours)), figure(ratio)]).toEqual(['2', '–']);
  const aim = { what: 'against emmett', aim: '≥ 17 ×', measured: figure(ratio), met: ratio >= 17 };
  expect(printAims([aim])).toContain('not measured');
  const table = { title: 'Replay', columns: [''], rows: [], notes: ['three rounds'] };
  const report = { name: 'replay', tables: [table], aims: [aim], figures: { ours } };
  const failed = takeFailedPeers();
  expect(withFailedPeers(report, failed)).toEqual({
    ...report,
    tables: [
      {
        ...table,
        notes: [
          'three rounds',
          'Not measured: emmett failed (Error: SQLITE_BUSY: database is locked). What is compared with it is missing.',
        ],
      },
    ],
    figures: { ours, failed },
  });
  expect(takeFailedPeers()).toEqual([]);
  expect(withFailedPeers(report, [])).toBe(report);
});
