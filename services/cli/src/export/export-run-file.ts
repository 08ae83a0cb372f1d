import {
  addressOf,
  ENDPOINTS,
  openContents,
  runFileKey,
  toWireJson,
  type AnswerOf,
  type Endpoint,
  type RunFile,
} from '@stemma/api';
import type { Answers } from '@stemma/answers';
import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { createHash } from 'node:crypto';
import { answersOf } from '../answers.ts';
import type { Context } from '../command.ts';
import { printable } from '../output.ts';
import { positionOf } from '../references.ts';
import { runFileParts } from '../run-file-parts.ts';
import { titled, titleOf } from '../titles.ts';
import { fileTarget, outputTarget } from './export-target.ts';

/** So many calls are in one file, at the most. */
const MOST_CALLS = 300;
/** What a card reads of a tree, and of each content. */
const FRONT = 60;
const TAIL = 340;
const EXCERPT = 4_000;
const MOST_SNAPSHOTS = 500;
const MOST_CELLS = 5_000;

type Asked = { readonly name: string; readonly ref: string | undefined; readonly to: string | undefined };

/** Writes calls of a branch as one page with its filmstrip and call cards, which asks for nothing when it is opened. */
export const exportRunFile = async (
  { findBranch, output, observe, signal }: Context,
  { name, ref, to }: Asked,
): Promise<undefined> => {
  if (to === undefined && output.isTerminal)
    throw fail('E_USAGE', `name the file: stemma export ${name} -o run.html`);
  const { home, branchRef } = await findBranch(name);
  const parts = runFileParts();
  const file = await runFileOf(home, branchRef, ref, signal);
  const page = pageOf(file, parts);
  observe(branchRef, 'exported', 'a page', await home.position(branchRef, `@c${file.to}`));
  output.say(
    file.redacted === null
      ? 'nothing is redacted: the home has no rules, and --redact names none'
      : `redacted by rules: ${file.redacted} texts`,
  );
  const target = to === undefined ? outputTarget(output) : await fileTarget(to);
  await target.write(page);
  const bytes = await target.end();
  if (to === undefined) return undefined;
  const { from, to: last, redacted } = file;
  await output.result(
    { format: 'html', files: [{ file: to, bytes }], from, to: last, redacted },
    () => `${printable(to)}: calls ${from} to ${last}, ${bytes} bytes\n`,
  );
  return undefined;
};

/** The answers that the page reads of the calls of a range. */
const runFileOf = async (
  home: Home,
  branchRef: BranchRef,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<RunFile> => {
  const answers = (await answersOf(home)).byName;
  const redactor = openRedactor(home);
  const { history, branch } = branchRef;
  const page = await answers.snapshots({ history: branch, limit: MOST_SNAPSHOTS });
  const { from, to } = await rangeOf(home, branchRef, ref, { oldest: page.oldest, newest: page.newest });
  const kept: Record<string, string> = {};
  const contents = openContents();
  const keep = (
    endpoint: Endpoint,
    input: Readonly<Record<string, unknown>>,
    answer: unknown,
    at?: string,
  ): void => {
    kept[runFileKey(addressOf({ path: endpoint.path }, input), at)] = toWireJson(redactor.value(answer));
  };
  const snapshots = await snapshotsBetween(answers, branch, from, to);
  keep(
    ENDPOINTS.snapshots,
    { history: branch },
    { ...page, snapshots, oldest: from, newest: to, next: null },
  );
  keep(ENDPOINTS.held, {}, { calls: [] });
  await keepFilm(answers, branchRef, { from, to }, keep);
  const seen = new Map<string, string>();
  for (let cycle = from; cycle <= to + 1; cycle++) {
    signal.throwIfAborted();
    const isBehind = cycle > to;
    const at = isBehind && cycle > (page.newest ?? 0) ? undefined : `@c${cycle}`;
    const asked = {
      history: branch,
      limit: FRONT,
      tail: TAIL,
      excerpt: EXCERPT,
      ...(at !== undefined && { at }),
    };
    const tree = redactor.value(await answers.tree(asked));
    kept[runFileKey(addressOf({ path: ENDPOINTS.tree.path }, asked), isBehind ? undefined : at)] =
      contents.treeText(tree);
    if (isBehind) break;
    for (const { id } of tree.removed) if (!seen.has(id) && cycle > 1) seen.set(id, `@c${cycle - 1}`);
    for (const { id, thread, changed } of tree.nodes) {
      if (thread === null) continue;
      if (changed.some((field) => field !== 'ttl') && at !== undefined)
        keep(
          ENDPOINTS.node,
          { history: branch, node: id },
          await answers.node({ history: branch, node: id, at }),
          at,
        );
      seen.set(id, `@c${cycle}`);
    }
  }
  for (const [node, at] of seen) {
    signal.throwIfAborted();
    keep(ENDPOINTS.node, { history: branch, node }, await answers.node({ history: branch, node, at }));
    keep(
      ENDPOINTS.why,
      { history: branch, node },
      await answers.why({ history: branch, node, at: `@c${to}` }),
    );
  }
  keep(ENDPOINTS.config, { history: branch }, await answers.config({ history: branch, at: `@c${to}` }));
  for (const { call } of snapshots) {
    if (call === null) continue;
    const asked = { history, attempt: call.attempt_id };
    keep(ENDPOINTS.attempt, asked, await answers.attempt(asked));
  }
  const title = titled(branch, history, await titleOf(home, history));
  return {
    ...{ title: redactor.value(title), branch, from, to, answers: kept },
    contents: contents.contents,
    redacted: redactor.count(),
  };
};

type ByName = Answers['byName'];
type Range = { readonly from: number; readonly to: number };

/** `@c3..@c9`, `@c3`, or nothing for all calls of a branch. @throws E_USAGE */
const rangeOf = async (
  home: Home,
  branchRef: BranchRef,
  ref: string | undefined,
  { oldest, newest }: { readonly oldest: number | null; readonly newest: number | null },
): Promise<Range> => {
  if (oldest === null || newest === null) throw fail('E_USAGE', 'no call is there to show');
  const [first, last = first] = ref === undefined ? [] : ref.split('..');
  const cycleAt = async (given: string | undefined, otherwise: number): Promise<number> => {
    if (given === undefined || given === '') return otherwise;
    const { label } = await home.position(branchRef, positionOf(given));
    const cycle = /^@c(\d+)$/.exec(label)?.[1];
    if (cycle === undefined) throw fail('E_USAGE', `${given} is no call: give two, such as @c3..@c9`);
    return Number(cycle);
  };
  const [from, to] = [await cycleAt(first, oldest), await cycleAt(last, newest)];
  if (from > to) throw fail('E_USAGE', `${ref ?? ''} ends before it begins`);
  if (to - from >= MOST_CALLS)
    throw fail(
      'E_USAGE',
      `${to - from + 1} calls are more than ${MOST_CALLS}: give a range, such as @c${to - 99}..@c${to}`,
    );
  return { from, to };
};

const snapshotsBetween = async (answers: ByName, branch: string, from: number, to: number) => {
  const found: AnswerOf<typeof ENDPOINTS.snapshots>['snapshots'] = [];
  for (let before: number | null = to + 1; before !== null && before > from;) {
    const page: AnswerOf<typeof ENDPOINTS.snapshots> = await answers.snapshots({
      history: branch,
      limit: MOST_SNAPSHOTS,
      before,
    });
    found.push(...page.snapshots.filter(({ cycle }) => cycle >= from));
    before = page.next;
  }
  return found;
};

/** The filmstrip of one branch: what leads to its tip is its own there. */
const keepFilm = async (
  answers: ByName,
  { history, branch, branchId }: BranchRef,
  { from, to }: Range,
  keep: (endpoint: Endpoint, input: Readonly<Record<string, unknown>>, answer: unknown) => void,
): Promise<void> => {
  const path = (await answers.branches({ history: branch, of: `@c${to}` })).branches;
  const limits = new Map(path.map((each, i) => [each.branchId, path[i + 1]?.parent?.cycle ?? to]));
  const cells: AnswerOf<typeof ENDPOINTS.filmstrip>['cells'] = [];
  for (let next: { branch?: number; after?: number } | null = {}; next !== null;) {
    const page: AnswerOf<typeof ENDPOINTS.filmstrip> = await answers.filmstrip({
      history,
      limit: MOST_CELLS,
      ...next,
    });
    cells.push(...page.cells);
    next = page.next;
  }
  const own = cells
    .filter(({ branchId: of, cycle }) => cycle >= from && cycle <= to && cycle <= (limits.get(of) ?? -1))
    .map((cell) => ({ ...cell, branchId }))
    .toSorted((a, b) => a.cycle - b.cycle);
  keep(ENDPOINTS.filmstrip, { history }, { history, cells: own, next: null });
  const tip = path.at(-1);
  keep(
    ENDPOINTS.branches,
    { history },
    { history, branches: tip === undefined ? [] : [{ ...tip, branch, branchId, parent: null }] },
  );
};

/** Names of fields whose values say where something is: in them nothing is redacted, or the page would not find it. */
const NAMES =
  /^(?:id|ids|node|parent|children|history|branch|label|position|command|attempt_id|refs|.*[hH]ash|.*sha256|frame)$/;

/** Redacts every text of an answer by the rules of the home, and counts those that became others. */
const openRedactor = (home: Home) => {
  let found = 0;
  const redact = (value: unknown, field: string): unknown => {
    if (typeof value === 'string') {
      const text = NAMES.test(field) ? value : home.privacy.redactText(value);
      if (text !== value) found++;
      return text;
    }
    if (Array.isArray(value)) return value.map((each) => redact(each, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, redact(each, name)]));
  };
  return {
    value: <T>(value: T): T => (home.privacy.redacts ? (redact(value, '') as T) : value),
    count: (): number | null => (home.privacy.redacts ? found : null),
  };
};

const sha256Of = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page: its policy allows its own script and style sheet, by their hashes, and no request to anywhere. */
const pageOf = (
  file: RunFile,
  { script, style }: { readonly script: string; readonly style: string },
): string => {
  // Within a script element nothing ends it but its end tag.
  const own = script.replaceAll('</script', '<\\/script');
  const policy = `default-src 'none'; script-src ${sha256Of(own)}; style-src ${sha256Of(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const data = JSON.stringify(file).replaceAll('<', '\\u003c');
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n',
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n`,
    '<meta name="viewport" content="width=device-width, initial-scale=1" />\n<meta name="referrer" content="no-referrer" />\n',
    '<meta name="color-scheme" content="light dark" />\n<title>Stemma: a recorded run</title>\n',
    `<style>${style}</style>\n</head>\n<body>\n<div id="app"></div>\n`,
    `<script type="application/json" id="run">${data}</script>\n`,
    `<script type="module">${own}</script>\n</body>\n</html>\n`,
  ].join('');
};
