import { fail } from '@stemma/errors';
import { EXPORTERS, isRequestFormat, REQUEST_FORMATS } from '@stemma/exporters';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { OBSERVER_OPTION } from '../actor.ts';
import { answersOf } from '../answers.ts';
import type { Context, TopCommand } from '../command.ts';
import { exportHistory } from '../export/export-history.ts';
import { exportRequest } from '../export/export-request.ts';
import { exportRunFile } from '../export/export-run-file.ts';
import { fileTarget } from '../export/export-target.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';
import { withSmallHeaps } from '../small-heaps.ts';

/** Every value of `--format`, with what it writes. */
const FORMATS: readonly (readonly [name: string, summary: string])[] = [
  ['pact', 'the canonical bytes of a position: every node with every header'],
  ...Object.entries(REQUEST_FORMATS).map(
    ([name, { summary }]) => [name, `${summary}, of a position or call`] as const,
  ),
  ...EXPORTERS.map(({ name, summary }) => [name, summary] as const),
  [
    'html',
    'one page to show others: filmstrip and call cards of a branch, or of its calls @c3..@c9; it asks for nothing when it is opened',
  ],
  ['logosphere', 'a pool with all its branches, as a folder'],
];

export const exportCommand: TopCommand = {
  name: 'export',
  summary: 'write a position as a request to a model, or a history in the format of another program',
  group: 'Export, back up, erase',
  place: 1,
  example: 'stemma export mine @c7 --format anthropic',
  arguments: [
    [
      '<history>',
      'a history or branch, by id or name; of a branch (mine:what-if), only what leads to its tip',
    ],
    [
      '[ref]',
      'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state), or the id of a call; with --format html a range of calls: @c3..@c9; with --format logosphere the folder',
    ],
  ],
  options: [
    [
      '--format <name>',
      `the format (default: pact; html for a file.html):\n${FORMATS.map(([name, summary]) => `${name}: ${summary}`).join(';\n')}`,
    ],
    ['-o, --output <file>', 'the file, which is replaced (default: standard output)'],
    ['--model <name>', 'with the format of a request: the model that is asked (default: the recorded one)'],
    OBSERVER_OPTION,
  ],
  run: async (context, [name, ref], options) => {
    const [to, model] = [text(options, 'output'), text(options, 'model')];
    const format = text(options, 'format') ?? (to?.endsWith('.html') === true ? 'html' : 'pact');
    const asked = { name: required(name), ref: ref as string | undefined, to };
    if (format === 'logosphere') return exportSessionFolder(context, asked.name, asked.ref);
    if (isRequestFormat(format)) return exportRequest(context, format, { ...asked, model });
    if (model !== undefined) throw fail('E_USAGE', `--format ${format} takes no --model`);
    if (format === 'html') return exportRunFile(context, asked);
    if (format === 'pact') return exportPosition(context, asked);
    const exporter = EXPORTERS.find((each) => each.name === format);
    if (exporter !== undefined) return withSmallHeaps(() => exportHistory(context, exporter, asked));
    const known = FORMATS.map(([each]) => each).join(', ');
    throw fail('E_USAGE', `--format is ${JSON.stringify(format.slice(0, 100))}, not one of ${known}`);
  },
};

type Asked = { readonly name: string; readonly ref: string | undefined; readonly to: string | undefined };

const exportPosition = async (context: Context, { name, ref, to }: Asked): Promise<undefined> => {
  const home = await context.home();
  const branchRef = await home.find(name);
  const position = await home.position(branchRef, ref);
  context.observe(branchRef, 'exported', 'PACT', position);
  const asked = { history: branchRef.branch, at: `@s${position.seq}` };
  const bytes = await (await answersOf(home)).byName.export(asked);
  if (to === undefined) {
    await context.output.write(bytes);
    return undefined;
  }
  const target = await fileTarget(to);
  await target.write(bytes);
  const size = await target.end();
  await context.output.result(
    { format: 'pact', files: [{ file: to, bytes: size }], lost: {} },
    () => `${printable(to)}: ${size} bytes\n`,
  );
  return undefined;
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
