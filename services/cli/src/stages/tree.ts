import { stageNamed, treeView, type StageTreeView, type TreeViewNode } from '@stemma/stages';
import type { CommandSpec } from '../command.ts';
import { required, text } from '../options.ts';
import { oneLine } from '../output.ts';
import { configOf, giveExact, LOG_OPTIONS, profileOf, readLogFile } from './log-file.ts';

export const treeOfLog: CommandSpec = {
  name: 'tree',
  summary: 'show a stage of an event log as a tree of turns, tasks and nodes',
  arguments: [['<file>', 'an event log; - reads stdin']],
  options: [
    ['--stage <stage>', 'the stage: RAW, SPEC, HEADER or FROZEN (default: FROZEN)'],
    ['--previews', 'the beginning of each message; likely secrets are redacted'],
    ...LOG_OPTIONS,
  ],
  run: async (context, [file], options) => {
    const profile = profileOf(options);
    const stage = stageNamed(text(options, 'stage') ?? 'FROZEN');
    const includePreviews = options['previews'] === true;
    const config = await configOf(context, profile, options);
    const { nodes, payload } = await readLogFile(context, required(file), profile, includePreviews);
    const view = treeView({ profile, nodes, config, payload }, { stage, includePreviews });
    await giveExact(context, view, () => drawn(view, context.output.width));
    return undefined;
  },
};

const drawn = ({ nodes, hashes, stage }: StageTreeView, width: number): string => {
  const children = new Map<string, TreeViewNode[]>();
  const ids = new Set(nodes.map(({ id }) => id));
  for (const node of nodes) {
    if (node.parent_id === null || !ids.has(node.parent_id)) continue;
    const siblings = children.get(node.parent_id);
    if (siblings === undefined) children.set(node.parent_id, [node]);
    else siblings.push(node);
  }
  const lines: string[] = [];
  const seen = new Set<string>();
  const draw = (node: TreeViewNode, depth: number): void => {
    // Tasks may be each other's parents, and an id may stand twice.
    const again = seen.has(node.id);
    seen.add(node.id);
    const indent = '  '.repeat(Math.min(depth, 40));
    lines.push(indent + oneLine(lineOf(node), Math.max(20, width - indent.length)));
    if (!again) for (const child of children.get(node.id) ?? []) draw(child, depth + 1);
  };
  for (const node of nodes) if (node.parent_id === null) draw(node, 0);
  for (const node of nodes) if (!seen.has(node.id)) draw(node, 1);
  return `${lines.join('\n')}\n\n${stage}  tree ${hashes.tree_sha256}\n`;
};

const lineOf = ({ id, kind, label, meta }: TreeViewNode): string => {
  const flags = ['dropped', 'collapsed'].filter((flag) => meta[flag] === true);
  const preview = meta['content_preview'];
  const shown = typeof preview === 'string' ? ` “${preview}”` : '';
  const name =
    kind === 'root' || kind === 'turn' || kind === 'task' || kind === 'task_root'
      ? ''
      : `  ${id.replace(/^ctrees:node:/, '')}`;
  return `${label}${name}${flags.length === 0 ? '' : ` (${flags.join(', ')})`}${shown}`;
};
