import { fail } from '@stemma/errors';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { OBSERVER_OPTION } from '../actor.ts';
import { answersOf } from '../answers.ts';
import type { Context, TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';

export const exportCommand: TopCommand = {
  name: 'export',
  summary:
    'print the canonical bytes of a position: every node with every header; or write a pool as a folder',
  group: 'Export, back up, erase',
  place: 1,
  example: 'stemma export mine @c7',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '[ref]',
      'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state); with --format logosphere the folder',
    ],
  ],
  options: [
    ['--format <name>', 'pact, or logosphere: a pool with all its branches (default: pact)'],
    OBSERVER_OPTION,
  ],
  run: async (context, [name, ref], options) => {
    const format = text(options, 'format') ?? 'pact';
    if (format === 'logosphere')
      return exportSessionFolder(context, required(name), ref as string | undefined);
    if (format !== 'pact')
      throw fail('E_USAGE', `--format is ${JSON.stringify(format.slice(0, 100))}, not pact or logosphere`);
    const home = await context.home();
    const branchRef = await home.find(required(name));
    const position = await home.position(branchRef, ref as string | undefined);
    context.observe(branchRef, 'exported', 'PACT', position);
    const asked = { history: branchRef.branch, at: `@s${position.seq}` };
    await context.output.write(await (await answersOf(home)).byName.export(asked));
    return undefined;
  },
};

/** Writes a pool into a folder that is new or empty. */
const exportSessionFolder = async (
  { findBranch, output, observe }: Context,
  name: string,
  folder: string | undefined,
): Promise<undefined> => {
  if (folder === undefined)
    throw fail('E_USAGE', 'name the folder: stemma export sea --format logosphere FOLDER');
  const { exportSession } = await import('@stemma/pools');
  const { home, branchRef } = await findBranch(name);
  const { files, ...counts } = await exportSession(home, branchRef.history);
  const root = resolve(folder);
  mkdirSync(root, { recursive: true });
  if (readdirSync(root).length > 0)
    throw fail('E_IO', `${folder} is not empty: name a new folder`, { path: folder });
  for (const { path, bytes } of files) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  observe(branchRef, 'exported', 'Logosphere', await home.position(branchRef));
  await output.result(
    { folder: root, ...counts },
    () =>
      `${printable(folder)}: ${counts.messages} messages, ${counts.branches} branches, ${counts.interventions} interventions\n`,
  );
  return undefined;
};
