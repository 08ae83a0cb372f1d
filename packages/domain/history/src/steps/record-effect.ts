import { sha256Hex } from '@stemma/canonical';
import { CallAddress, FileChange, type HistoryEvent } from '@stemma/events';
import { fail } from '@stemma/errors';
import { z } from 'zod';
import { checkedInCall } from '../decide/call-bodies.ts';
import { count, id } from './fields.ts';
import { defineStep } from './step.ts';

/** The id of the command that records a part of a snapshot of a run's workspace: it is recorded once. */
export const recordOfSnapshot = (run: string, snapshot: number, part: number): string =>
  `run-${run}.files-${snapshot}.${part}`;

/** The bytes of a file: its number in the list, and the bytes as text, or in base64. */
const Contents = z.strictObject({
  file: count,
  encoding: z.enum(['text', 'base64']),
  text: z.string().max(16 * 1024 * 1024),
});

/** The most files of one part. */
export const MOST_FILES = 500;

/**
 * Records what a snapshot of the workspace of a run shows. A text that lost a secret on its way here is not what the file held: it is not kept,
 * and the file is marked so.
 *
 * @throws E_COMMAND_INVALID
 */
export const recordEffect = defineStep({
  op: 'record_effect',
  schema: z.strictObject({
    op: z.literal('record_effect'),
    run: id.max(240),
    startedAt: count,
    endedAt: count,
    snapshot: count,
    part: count,
    parts: count,
    since: count.nullable(),
    from: CallAddress.nullable(),
    until: CallAddress.nullable(),
    directory: z.string().max(65_536),
    files: z.array(FileChange).max(MOST_FILES),
    repositories: z.array(z.string().max(65_536)).max(MOST_FILES),
    left: count,
    contents: z.array(Contents).max(MOST_FILES),
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  secrets: {
    directory: { as: 'directory' },
    files: { each: 'path', as: 'path' },
    repositories: { as: 'repositories' },
    contents: { each: 'text', as: 'data_contents' },
    run: 'name',
    startedAt: 'none',
    endedAt: 'none',
    snapshot: 'none',
    part: 'none',
    parts: 'none',
    since: 'none',
    from: 'none',
    until: 'none',
    left: 'none',
  },
  *decide(pending, { run, startedAt, endedAt, contents, files, ...step }): Iterable<HistoryEvent> {
    const { snapshot, part, parts, since, from, until, left } = step;
    const own = recordOfSnapshot(run, snapshot, part);
    if (pending.command !== own)
      throw fail(
        'E_COMMAND_INVALID',
        `the command that records this part of a snapshot must have the id ${own}`,
      );
    const kept = contents.filter(({ file, encoding, text }) => {
      const state = files[file]?.after;
      if (state === undefined || state === null)
        throw fail('E_COMMAND_INVALID', `there are bytes of file ${file}, which is not in the list`);
      return encoding !== 'text' || sha256Hex(text) === state.sha256;
    });
    const numbers = new Set(kept.map(({ file }) => file));
    yield {
      type: 'EffectRecorded',
      run,
      startedAt,
      endedAt,
      effect: {
        what: 'file',
        ...{ snapshot, part, parts, since, from, until, left },
        directory: checkedInCall(step.directory, 'the directory') as string,
        files: files.map((file, number) =>
          file.contents === 'kept' && !numbers.has(number) ? { ...file, contents: 'secret' } : file,
        ),
        repositories: checkedInCall(step.repositories, 'the repositories') as string[],
      },
      payload: {
        data_contents: checkedInCall(
          kept.map(({ file, encoding, text }) => [file, encoding, text]),
          'the files',
        ),
      },
    };
  },
});
