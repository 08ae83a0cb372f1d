import type { Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { entryDocument, stagesDocument, type StagesSettings } from '@stemma/queries';
import { printPlain, profileNamed, stageNamed } from '@stemma/stages';
import { defined } from '@stemma/values';
import type { CommandSpec, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { oneLine, table, wrapped } from '../output.ts';
import { giveExact, readJsonFile } from './log-file.ts';

type Values = Readonly<Record<string, unknown>>;

export const HISTORY_OPTIONS: CommandSpec['options'] = [
  ['--stage <stage>', 'one stage as JSON: RAW, SPEC, HEADER or FROZEN (default: a summary of all)'],
  ['--profile <name>', 'the profile: stemma-1 or breadboard-0.1 (default: stemma-1)'],
  [
    '--config <file>',
    'a JSON file: {selection?, header?, frozen?, collapse?, prompt_summary?} (default: the defaults of the profile)',
  ],
];

/** What `--profile` and `--config` say of a history's stages. @throws E_USAGE, and what is wrong with the file */
const settingsOf = async (context: Context, options: Values): Promise<StagesSettings> => {
  const file = text(options, 'config');
  return {
    profile: profileNamed(text(options, 'profile') ?? 'stemma-1').name,
    ...defined({ config: file === undefined ? undefined : await readJsonFile(context, file) }),
  };
};

/** `stages <history> [ref]`: the stages of a branch at a position. */
export const stagesOfHistory: CommandSpec['run'] = async (context, [name, ref], options) => {
  const stage = text(options, 'stage');
  const asked = stage === undefined ? undefined : stageNamed(stage);
  const settings = await settingsOf(context, options);
  const { home, branchRef } = await context.findBranch(required(name));
  const position = await home.position(branchRef, ref as string | undefined);
  const answer = await home.queries.stages.compile(position, settings);
  if (asked !== undefined) {
    const one = answer.compiler.stages[asked];
    await giveExact(context, one, () => printPlain(one) + '\n');
    return undefined;
  }
  const document = {
    position: { ...position },
    profile: answer.profile,
    ...stagesDocument(answer),
  };
  await giveExact(context, document, () => {
    const { hashes, stages, node_count } = answer.compiler;
    const { selection } = stages.SPEC;
    return wrapped(
      `${position.label}, profile ${answer.profile}\n` +
        table(
          ['hash', 'value', 'of'],
          [
            ['node_hash', hashes.node_hash, `${node_count} nodes`],
            ['z1', hashes.z1, 'RAW'],
            ['z2', hashes.z2, `SPEC: ${selection.selected_count} of ${selection.candidate_count} selected`],
            [
              'z3',
              hashes.z3,
              `HEADER: ${stages.HEADER.messages.length} messages, ${stages.HEADER.header_mode}`,
            ],
          ],
        ) +
        '\n' +
        table(
          ['kind', 'nodes'],
          Object.entries(stages.RAW.kind_counts).map(([kind, count]) => [kind, String(count)]),
        ),
      context.output.width,
    );
  });
  return undefined;
};

/** Nodes that are listed of each stage before the rest is counted. */
const MAX_SHOWN = 10;

export const stagesDiff: CommandSpec = {
  name: 'diff',
  summary: 'compare the stages of a history at two positions: which differ, and by which nodes',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<a>', 'the earlier position: @t-1 @c12 @s57 @name:NAME'],
    ['<b>', 'the later position'],
  ],
  options: HISTORY_OPTIONS.filter(([syntax]) => !syntax.startsWith('--stage')),
  run: async (context, [name, a, b], options) => {
    const settings = await settingsOf(context, options);
    const { home, branchRef } = await context.findBranch(required(name));
    const [before, after] = [await at(home, branchRef, required(a)), await at(home, branchRef, required(b))];
    const diff = await home.queries.stages.diff(before, after, settings);
    const document = {
      a: { ...diff.a },
      b: { ...diff.b },
      profile: diff.profile,
      shared: diff.shared,
      stages: diff.stages.map(({ added, removed, ...move }) => ({
        ...move,
        added: added.map(entryDocument),
        removed: removed.map(entryDocument),
      })),
    };
    await giveExact(context, document, () => {
      const head = `${before.label} to ${after.label}, profile ${diff.profile}: ${diff.shared} nodes in common\n`;
      return head + diff.stages.map((move) => told(move, context.output.width)).join('');
    });
    return undefined;
  },
};

const at = (home: Home, branchRef: Parameters<Home['position']>[0], ref: string): Promise<Position> =>
  home.position(branchRef, ref);

type Move = Awaited<ReturnType<Home['queries']['stages']['diff']>>['stages'][number];

const told = ({ stage, a, b, moved, parts, added, removed }: Move, width: number): string => {
  if (!moved) return `${stage}: the same, ${a}\n`;
  const nodes = [
    ...removed.map((node) => `  - ${node.id} ${node.label}, turn ${node.turn}`),
    ...added.map((node) => `  + ${node.id} ${node.label}, turn ${node.turn}`),
  ];
  const rest = nodes.length > MAX_SHOWN ? [`  … and ${nodes.length - MAX_SHOWN} more`] : [];
  const lines = [`${stage}: ${a} → ${b}`, `  in ${parts.join(', ')}`, ...nodes.slice(0, MAX_SHOWN), ...rest];
  return lines.map((line) => indented(line, width) + '\n').join('');
};

const indented = (line: string, width: number): string =>
  line.startsWith('  ') ? `  ${oneLine(line, width - 2)}` : oneLine(line, width);
