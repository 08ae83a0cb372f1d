import { importSentences, toWireJson } from '@stemma/api';
import type { WideJson } from '@stemma/canonical';
import { NODE_KIND, type FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { TreeView } from '@stemma/history-store';
import type { HistorySummary } from '@stemma/queries';
import { OBSERVER_OPTION } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { contentWords } from '../excerpts.ts';
import { nodeAt, type NodeView } from '../nodes.ts';
import { splitReferences } from '../references.ts';
import { indented, oneLine, printable, type Output } from '../output.ts';

export const show: TopCommand = {
  name: 'show',
  summary: 'show the tree at a position, or one node of it',
  group: 'Look',
  place: 8,
  example: 'stemma show mine @c7 m3',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '[refs...]',
      "a position such as @c3 (default: the working state) and a node, by id: a1 or '#a1' (default: all nodes)",
    ],
  ],
  options: [OBSERVER_OPTION],
  run: async ({ findBranch: find, output, observe }, [name, refs]) => {
    const { ref, node: id } = splitReferences(Array.isArray(refs) ? (refs as readonly string[]) : [], 'show');
    const { home, branchRef } = await find(name);
    const position = await home.position(branchRef, ref);
    const view = await (id === undefined ? home.read.view(position) : home.read.nodeView(position, id));
    observe(
      branchRef,
      'opened',
      [ref, id === undefined ? undefined : `#${id}`].filter(Boolean).join(' ') || 'show',
      position,
    );
    if (view === undefined) throw noNode(position.label, id ?? '');
    if (id === undefined) await showTree(output, view, await home.read.history(branchRef.history));
    else await showNode(output, view, view.tree.indexOf(id) as number);
    return undefined;
  },
};

const noNode = (label: string, id: string): Error =>
  fail('E_NODE_NOT_FOUND', `there is no node ${JSON.stringify(id)} at ${label}`, { id });

const showTree = async (output: Output, view: TreeView, summary: HistorySummary): Promise<void> => {
  const { tree, position } = view;
  const { import: imported, name, history } = summary;
  const indices = Array.from({ length: tree.count }, (_, i) => i);
  if (output.json) {
    await output.result(
      { ...position, import: imported, nodes: indices.map((i) => nodeAt(view, i)) },
      () => '',
    );
    return;
  }
  await output.write(`${position.label} of ${name ?? history}, ${tree.count} nodes\n`);
  if (imported !== null)
    for (const sentence of importSentences(imported)) await output.write(`${printable(sentence)}\n`);
  for (const i of indices) await output.write(treeLine(tree, nodeAt(view, i), i, output.width) + '\n');
};

const treeLine = (tree: FlatTree, node: NodeView, i: number, width: number): string => {
  let level = 0;
  for (let parent = tree.parents[i] ?? -1; parent !== -1; parent = tree.parents[parent] ?? -1) level++;
  const facts = [
    node.offset === 0 ? '' : `offset ${String(node.offset)}`,
    node.ttl === null ? '' : `ttl ${String(node.ttl)}`,
    [node['role'], node['kind']].filter((value) => typeof value === 'string').join('/'),
  ].filter((fact) => fact !== '');
  const content = tree.kinds[i] === NODE_KIND.block ? `  ${wordsOf(node['content'])}` : '';
  const depth = node.depth !== null && tree.kinds[i] === NODE_KIND.turn ? ` depth ${node.depth}` : '';
  const line = `${'  '.repeat(level)}${node.nodeType} ${node.id}${depth}${facts.length === 0 ? '' : ` [${facts.join(', ')}]`}${content}`;
  return ' '.repeat(level * 2) + oneLine(line, Math.min(width, 200) - level * 2);
};

const wordsOf = (content: WideJson | undefined): string =>
  content === undefined ? '' : contentWords(content);

const contentText = (content: unknown): string =>
  content === undefined ? '' : typeof content === 'string' ? content : toWireJson(content);

const showNode = async (output: Output, view: TreeView, index: number): Promise<void> => {
  const node = nodeAt(view, index);
  await output.result(node, () => {
    // A date that is not known is none.
    const shown = Object.entries(node).filter(([name, value]) => name !== 'created_at_iso' || value !== null);
    const title = Math.max(...shown.map(([name]) => printable(name).length)) + 2;
    return shown
      .map(([name, value]) => `${printable(name).padEnd(title)}${indented(contentText(value), title)}\n`)
      .join('');
  });
};
