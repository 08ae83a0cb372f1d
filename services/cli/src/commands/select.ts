import { fail } from '@stemma/errors';
import type { BranchRef, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { CONTENT_MODES, parseSelector, type ContentMode, type RangeOptions } from '@stemma/selectors';
import { defined } from '@stemma/values';
import { OBSERVER_OPTION } from '../actor.ts';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { openExcerpts, withExcerpt } from '../excerpts.ts';
import { required, text, whole } from '../options.ts';
import { printable, type Output } from '../output.ts';
import { isPosition, positionOf } from '../references.ts';
import { pairText, summaryText } from '../range-text.ts';

export const select: TopCommand = {
  name: 'select',
  summary:
    'list the nodes that a selector matches, in thread order, or the changes over a range of snapshots',
  group: 'Ask why',
  place: 5,
  example: 'stemma select mine "@c7 .cb[role=\'tool\']"',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '<selector>',
      "a selector such as '@t0 ^seq .cb[role=\\'tool\\']', '#cb:9a2f', '@* .mt' or '@t-5..@t-1 ^seq .cb'",
    ],
  ],
  options: [
    ['--limit <n>', 'the most ids to print; for a range, the most pairs of snapshots (default: all)'],
    ['--skip <n>', 'the number to skip first (default: 0)'],
    ['--include-content', 'range: a diff of each content that changed'],
    ['--content-mode <mode>', `range: the form of the diffs: ${CONTENT_MODES.join(', ')} (default: unified)`],
    ['--context-lines <n>', 'range: the lines around each change of a unified diff (default: 3)'],
    ['--max-snapshots <n>', 'range: the most snapshots; a longer range is refused (default: 1000)'],
    ['--max-changes <n>', 'range: the most changes listed for each pair (default: all)'],
    OBSERVER_OPTION,
  ],
  run: async ({ findBranch: find, output, observe }, [name, given], options) => {
    const asked = rangeOptionsOf(options);
    const { home, branchRef, selector } = await onBranch(await find(name), required(given));
    const { at } = parseSelector(selector);
    if (at.kind === 'range') {
      await printRange(home, branchRef, selector, asked, output);
      observe(branchRef, 'selected', selector, await home.position(branchRef));
      return undefined;
    }
    const forRange = Object.keys(asked).find((option) => option !== 'limit' && option !== 'skip');
    if (forRange !== undefined)
      throw fail('E_USAGE', `${optionOf(forRange)} needs a range such as @t-5..@t-1`);
    const { ids, position } = await home.read.select(branchRef, selector, asked);
    observe(branchRef, 'selected', selector, position);
    if (ids.length === 0 && !output.json) output.say('no node matches');
    const excerpt = output.json ? undefined : openExcerpts(await home.read.partialView(position, ids));
    await output.result(ids, () =>
      ids
        .map(
          (id) => `${excerpt === undefined ? id : withExcerpt(printable(id), id, excerpt, output.width)}\n`,
        )
        .join(''),
    );
    return undefined;
  },
};

/** A selector that begins with a position on another branch, `main-1@c10 .cb`: that branch, and the selector on it. */
const onBranch = async (
  { home, branchRef }: { readonly home: Home; readonly branchRef: BranchRef },
  given: string,
): Promise<{ readonly home: Home; readonly branchRef: BranchRef; readonly selector: string }> => {
  const [, first = '', rest = ''] = /^(\S+)(.*)$/s.exec(given) ?? [];
  if (!isPosition(first) || first.startsWith('@') || !first.includes('@'))
    return { home, branchRef, selector: given };
  const { branchId, branch, label } = await home.position(branchRef, positionOf(first));
  return {
    home,
    branchRef: { history: branchRef.history, branchId, branch },
    selector: `${label}${rest === '' ? ' *' : rest}`,
  };
};

const printRange = async (
  home: Home,
  branchRef: BranchRef,
  selector: string,
  options: RangeOptions,
  output: Output,
): Promise<void> => {
  if (output.json) {
    const answer = await (
      await answersOf(home)
    ).byName.range({ history: branchRef.branch, selector, ...options });
    await output.result(answer, () => '');
    return;
  }
  const result = await home.read.range(branchRef, selector, options);
  const cycles = new Map(result.snapshots.map(({ label, cycle }) => [label, cycle]));
  const viewAt = async (label: string, ids: readonly string[]): Promise<TreeView> =>
    home.read.partialView(await home.position(branchRef, `@c${cycles.get(label) ?? ''}`), ids);
  for (const diff of result.diffs) {
    const { added, removed, changed } = diff.stats;
    if (added + removed + changed === 0) continue;
    const ids = [...diff.added_ids, ...diff.removed_ids, ...diff.changed.map(({ id }) => id)];
    const words = openExcerpts(await viewAt(diff.from, ids), await viewAt(diff.to, ids));
    await output.write(pairText(diff, cycles, words, output.width));
  }
  await output.write(summaryText(result));
};

const rangeOptionsOf = (options: Readonly<Record<string, unknown>>): RangeOptions => {
  const mode = text(options, 'contentMode');
  if (mode !== undefined && !isMode(mode))
    throw fail(
      'E_USAGE',
      `--content-mode must be one of ${CONTENT_MODES.join(', ')}, not ${JSON.stringify(mode)}`,
    );
  const numbers = {
    limit: whole(options, 'limit', { least: 0 }),
    skip: whole(options, 'skip', { least: 0 }),
    contextLines: whole(options, 'contextLines', { least: 0 }),
    maxSnapshots: whole(options, 'maxSnapshots', { least: 0 }),
    maxChangesPerSnapshot: whole(options, 'maxChanges', { least: 0 }),
  };
  const includeContent = options['includeContent'] === true || undefined;
  return defined({ ...numbers, includeContent, contentMode: mode });
};

/** A range option as it is written on the command line. */
const optionOf = (name: string): string =>
  name === 'maxChangesPerSnapshot' ? '--max-changes' : `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`;

const isMode = (mode: string): mode is ContentMode => CONTENT_MODES.some((known) => known === mode);
