import { fail } from '@stemma/errors';
import type { EmbeddedTexts } from '@stemma/pools';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import { readFileBytes } from '../analyse/read-files.ts';
import { inWords } from '../analyse/words.ts';
import type { CommandSpec } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';

export const poolEmbed: CommandSpec = {
  name: 'embed',
  summary:
    'record the vectors of messages that have none: ask the embedder of the pool for them, or read them from a file',
  arguments: [
    ['<history>', 'a pool or branch of one, by id or name'],
    [
      '[file]',
      'vectors from outside: JSON Lines of {vector, message | vector_id | text | text_hash}, or .npy; - reads stdin',
    ],
  ],
  options: [
    [
      '--embedder <embedder>',
      'with a file: by which embedder its vectors are, such as outside:mine (default: that of the pool)',
    ],
    [
      '--ids <file>',
      'whose the rows of a .npy file are: a JSON list, or one JSON value a line, of message ids, vector_ids or text hashes (default: row i is vector_id i)',
    ],
    ...ACTOR_OPTIONS,
    ['--command <id>', 'the id of the command; the same id sent twice has one effect (default: a new id)'],
  ],
  run: async (context, [name, file], options) => {
    const [embedder, ids] = [text(options, 'embedder'), text(options, 'ids')];
    const path = file as string | undefined;
    if (path === undefined && (embedder !== undefined || ids !== undefined))
      throw fail('E_USAGE', '--embedder and --ids belong to a file of vectors: name one');
    const id = text(options, 'command') ?? randomUUID();
    const by = { id, actor: await actorOf(context, options), notes: await notesOf(context, options) };
    const { bringVectors, embedMissing, readBroughtVectors } = await import('@stemma/pools');
    const vectors =
      path === undefined
        ? null
        : readBroughtVectors(
            (await readFileBytes(context, path)).bytes,
            ids === undefined ? null : (await readFileBytes(context, ids)).bytes,
          );
    const { home, branchRef } = await context.findBranch(required(name));
    const found =
      vectors === null
        ? await embedMissing(home, branchRef, {
            ...by,
            minds: { env: context.env },
            signal: context.signal,
          })
        : await bringVectors(home, branchRef, {
            ...by,
            ...defined({ embedder }),
            vectors,
          });
    const { position, ...rest } = found;
    await context.output.result({ ...rest, position: position.label, branch: position.branch }, () =>
      describe(found),
    );
    return undefined;
  },
};

const describe = ({ embedder, dimension, recorded, known, missing, position }: EmbeddedTexts): string =>
  [
    `${inWords(recorded, 'text')} ${recorded === 1 ? 'has' : 'have'} a vector of ${dimension ?? 0} numbers by ${printable(embedder)} now, at ${position.label}\n`,
    known === 0 ? '' : `${inWords(known, 'text')} had one before, which stays\n`,
    missing === 0
      ? ''
      : `${inWords(missing, 'message')} of the pool ${missing === 1 ? 'has' : 'have'} none\n`,
  ].join('');
