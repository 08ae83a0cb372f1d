import { compareCodePoints } from '@stemma/canonical';
import { openDirectoryContents } from '@stemma/contents';
import { checkpointAtStart, readPartition, type EventLog, type HeadState } from '@stemma/log';
import { openProjector } from '@stemma/projector';
import { packValue, type Generation } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { sized } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { transcripts } from './transcripts.ts';

const SAMPLES = join(import.meta.dirname, '../../../samples');
/** All of them with STEMMA_KAFKA_TRANSCRIPTS=40. */
const MOST = Number(process.env['STEMMA_KAFKA_TRANSCRIPTS'] ?? sized(1, 3));

/** What is imported to be the same everywhere. */
export const FILES: readonly string[] = [
  ...transcripts.slice(0, MOST).map(({ file }) => file),
  join(SAMPLES, 'harbour-tram.chat.json'),
  join(SAMPLES, 'slow-checkout.steps.jsonl'),
];

/** Partitions, and how many write at once. */
export const SYSTEMS = [
  [6, 3],
  [1, 1],
  [6, 1],
  [1, 3],
] as const;

/** Imports files in so many processes at once, each with a home of its own. */
export const importIn = async (
  homes: readonly string[],
  log: string,
  files: readonly string[],
  /** `postgres://…`; without it, rows in each home. */
  rows = '',
): Promise<void> => {
  const script = join(import.meta.dirname, 'children/import-at.ts');
  await Promise.all(homes.map((home) => runNode([script, home, log, rows, ...files])));
};

const runNode = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`ended with ${code}: ${errors}`)),
    );
  });

/** SHA-256 over the accepted frames of each history, in order. */
export const frameHashes = async (log: EventLog): Promise<Readonly<Record<string, string>>> => {
  const hashes = new Map<string, ReturnType<typeof createHash>>();
  for (let partition = 0; partition < log.partitions; partition++) {
    const heads = new Map<string, HeadState>();
    const checkpoint = await checkpointAtStart(log, partition);
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
      for (const [history, head] of batch.heads) heads.set(history, head);
      for (const { control, envelope, bytes } of batch.accepted) {
        if (control) continue;
        const hash = hashes.get(envelope.history) ?? createHash('sha256');
        hashes.set(envelope.history, hash.update(bytes));
      }
    }
  }
  return Object.fromEntries(
    [...hashes].map(([history, hash]) => [history, hash.digest('hex')] as const).toSorted(byName),
  );
};

/** SHA-256 over the rows of each table that every log has, as the home holds them now. */
export const rowHashes = async (
  home: string,
  log: EventLog,
  rows: 'rows' | 'rows-kafka',
): Promise<Readonly<Record<string, string>>> => {
  const store = openLmdbRowStore({ directory: join(home, rows) });
  const contents = await openDirectoryContents(join(home, 'contents'));
  try {
    const keepFrames = rows === 'rows-kafka';
    const projector = openProjector({ eager: 'all', log, contents, store, keepFrames });
    await projector.catchUp();
    return await hashesOf(await projector.generation());
  } finally {
    await contents.close();
    await store.close();
  }
};

/** SHA-256 over the rows of each table of a generation that every log has. */
export const hashesOf = (generation: Generation): Promise<Readonly<Record<string, string>>> =>
  generation.scan(async (scan) => {
    const hashes: (readonly [string, string])[] = [];
    for (const table of generation.tables) {
      if (table.local === true || table.name === 'frame_bytes') continue;
      const lines: string[] = [];
      for await (const { key, value } of scan.entries(table))
        // What a partition says of itself differs with their number.
        if (!String(key[0]).startsWith('log:'))
          lines.push(`${JSON.stringify(key)} ${packValue(table, value).toString('hex')}`);
      lines.sort(compareCodePoints);
      hashes.push([`${table.name}: ${lines.length} rows`, sha256(lines.join('\n'))]);
    }
    return Object.fromEntries(hashes.toSorted(byName));
  });

/** Fails if these are not the hashes that are expected, and names the histories or tables that differ. */
export const expectHashes = (
  found: Readonly<Record<string, string>>,
  expected: Readonly<Record<string, string>>,
): void => {
  const differing = Object.keys({ ...expected, ...found }).filter((name) => found[name] !== expected[name]);
  expect(found, `${differing.length} differ: ${differing.slice(0, 10).join(', ')}`).toEqual(expected);
};

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
