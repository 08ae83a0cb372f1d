import type { BranchNode } from '@stemma/queries';
import { oneLine } from './output.ts';
import { titled } from './titles.ts';
import { time } from './time.ts';

/**
 * Branches as a tree of lines, the history by its title: under each its saved positions and the branches that start from it.
 *
 * ```
 * h…  main  @c12
 * ├─ @c3  saved "before"
 * ├─ @c4  fork h…:57 "other"  @c9
 * └─ @c7  rollback h…:60 main  @c12
 * ```
 */
export const drawBranches = (given: readonly BranchNode[], width: number, title?: string): string => {
  const branches =
    title === undefined
      ? given
      : given.map((node) => ({
          ...node,
          branch: titled(node.branch, node.branch.split(':')[0] ?? '', title),
        }));
  const known = new Set(branches.map(({ branchId }) => branchId));
  const [root] = branches;
  if (root === undefined) return '';
  const lines: string[] = [];
  // A stack instead of recursion: forks of forks may go deep.
  const stack: { readonly text: string; readonly node: BranchNode | null; readonly indent: string }[] = [
    { text: head(root), node: root, indent: '' },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    lines.push(oneLineKeeping(next.text, width));
    if (next.node === null) continue;
    const items = itemsOf(next.node, branches, known);
    const { indent } = next;
    items
      .map((item, i) => {
        const last = i === items.length - 1;
        return {
          text: `${indent}${last ? '└─ ' : '├─ '}${item.text}`,
          node: item.node,
          indent: `${indent}${last ? '   ' : '│  '}`,
        };
      })
      .reverse()
      .forEach((item) => stack.push(item));
  }
  return lines.join('\n') + '\n';
};

/** White space at the front is the drawing. */
const oneLineKeeping = (text: string, width: number): string => {
  const front = /^[\s│├└─]*/.exec(text)?.[0] ?? '';
  return front + oneLine(text.slice(front.length), Math.max(20, width - front.length));
};

/** Which call led to a conversation, and how that is known. */
export const calledBy = ({
  history,
  attemptId,
  why,
}: {
  readonly history: string;
  readonly attemptId: string;
  readonly why: string;
}): string =>
  `called by ${attemptId} in ${history}${KNOWN.has(why) ? '' : ` (guessed: ${REASONS[why] ?? why})`}`;

/** Nobody guessed: a person says so, or the file that was imported. */
const KNOWN: ReadonlySet<string> = new Set(['assigned', 'said']);

/** From which call a conversation may go on. */
export const maybeContinues = ({
  history,
  attemptId,
}: {
  readonly history: string;
  readonly attemptId: string;
}): string => `may continue ${history}, from ${attemptId} (same system message, nothing else is shared)`;

const REASONS: Readonly<Record<string, string>> = {
  argument: 'its tool has what is asked here',
  waiting: 'it waited for a tool',
};

const head = (node: BranchNode): string =>
  [
    node.branch,
    node.name ?? '',
    `at ${node.cycle === null ? '' : `@c${node.cycle}, `}@s${node.seq}`,
    time(node.updatedAt),
    node.called_by === null ? '' : calledBy(node.called_by),
    node.may_continue === null ? '' : maybeContinues(node.may_continue),
    node.abandoned_by === null ? '' : `(abandoned for :${node.abandoned_by})`,
    node.description,
  ]
    .filter((part) => part !== '')
    .join('  ');

type Item = { readonly seq: number; readonly text: string; readonly node: BranchNode | null };

const itemsOf = (of: BranchNode, all: readonly BranchNode[], known: ReadonlySet<number>): Item[] => {
  const saved = of.saved.map(({ name, seq }): Item => ({ seq, text: `@s${seq}  saved ${name}`, node: null }));
  const branches = all
    .filter(({ branchId, parent }) => parent?.branchId === of.branchId && known.has(branchId))
    .map((node): Item => ({
      seq: node.parent?.seq ?? 0,
      text: `${node.parent?.label ?? ''}  ${node.how} ${head(node)}`,
      node,
    }));
  return [...saved, ...branches].sort((a, b) => a.seq - b.seq);
};
