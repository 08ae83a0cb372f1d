import { QUESTIONS, requestChangeAnswer } from '@stemma/api';
import { parseJson } from '@stemma/canonical';
import type { ComparedFrame, ComparedMessage, ComparedNode, Comparison } from '@stemma/queries';
import { comparisonPage } from '@stemma/reports';
import { defined } from '@stemma/values';
import { writeFile } from 'node:fs/promises';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { describeDecisions } from '../decisions-table.ts';
import { contentWords } from '../excerpts.ts';
import { text, whole } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { requestChangeLines } from '../request-changes.ts';
import { time } from '../time.ts';
import { withTitles } from '../titles.ts';

/** So many interventions of a side are listed; the rest is counted. */
const MAX_INTERVENTIONS = 20;

export const compare: TopCommand = {
  name: 'compare',
  summary:
    'compare two branches or positions, of one history or of two: who forked, the changes of each side, and what differs for the model, with the cause',
  group: 'Ask why',
  place: 3,
  example: 'stemma compare mine main what-if',
  arguments: [
    ['<history>', 'a history or branch, by id or name; with only one more argument, A itself: HISTORY@c3'],
    ['<a>', 'a branch by name or number, or a position: @c3, BRANCH@c3, @name:NAME'],
    ['[b]', 'the other branch or position; of another history: OTHER, OTHER:BRANCH or OTHER@c3'],
  ],
  options: [
    ['--decisions', 'what the models decided on both branches, call by call: tools, arguments, answers'],
    ['--html <file>', 'a file for the comparison as a self-contained page'],
    ['--excerpt <characters>', 'the length of each excerpt (default: 2000)'],
  ],
  run: async ({ findBranch: find, output }, args, options) => {
    const given = args.filter((arg) => typeof arg === 'string');
    const [name, a, b] = sidesOf(given);
    const excerpt = whole(options, 'excerpt', { least: 0 });
    const file = text(options, 'html');
    const { home, branchRef } = await find(name);
    if (options['decisions'] === true) {
      const found = await (
        await answersOf(home)
      ).ask(QUESTIONS.decisions, {
        history: branchRef.branch,
        a: a === '' ? branchRef.branch : a,
        b: b === '' ? branchRef.branch : b,
        ...defined({ excerpt }),
      });
      await output.result(found, () => describeDecisions(found, output.width));
      return undefined;
    }
    const comparison = await home.queries.audit.compare(branchRef, a, b, defined({ excerpt }));
    if (file !== undefined) {
      const page = comparisonPage(
        comparison,
        given.length === 2 ? given.join(' and ') : `${name}: ${a} and ${b}`,
      );
      await writeFile(file, page, { mode: 0o600 });
      output.say(`wrote ${file}`);
    }
    const relation = await withTitles(home, describeRelation(comparison));
    const inAnswer = { ...comparison, request: comparison.request?.map(requestChangeAnswer) ?? null };
    await output.result(inAnswer, () => describe(comparison, relation, output.width));
    return undefined;
  },
};

/** The history, and what is compared in it: two arguments are two histories, branches or positions. */
const sidesOf = ([name = '', a = '', b]: readonly string[]): [name: string, a: string, b: string] => {
  if (b !== undefined) return [name, a, b];
  const at = name.indexOf('@');
  return at <= 0 ? [name, '', a] : [name.slice(0, at), name.slice(at), a];
};

const describe = (comparison: Comparison, relation: string, width: number): string =>
  relation +
  countTable(comparison) +
  describeDifferences(comparison, width) +
  describeRequest(comparison) +
  describeSide('A', comparison, width) +
  describeSide('B', comparison, width);

const describeRelation = ({ relation, mergeBase, divergedBy, a, b }: Comparison): string => {
  if (mergeBase === null) return `two histories: A is ${a.position.branch}, B is ${b.position.branch}\n`;
  const at = `${mergeBase.position.label} of branch ${mergeBase.position.branchId}`;
  if (relation === 'same') return `the same position: ${at}\n`;
  if (relation === 'a-before-b') return `B continues from A: ${at}\n`;
  if (relation === 'b-before-a') return `A continues from B: ${at}\n`;
  const how =
    divergedBy === null
      ? ''
      : `; ${divergedBy.side.toUpperCase()} diverged by a ${divergedBy.how} in @s${divergedBy.seq}, ${authorAndTime(divergedBy)}${notesText(divergedBy)}`;
  return `the same up to ${at}${how}\n`;
};

const notesText = ({ intervention }: ComparedFrame): string =>
  intervention === null || intervention.notes === '' ? '' : `: ${oneLine(intervention.notes, 300)}`;

const authorAndTime = ({ author, at }: ComparedFrame): string =>
  printable('actor' in author ? author.actor : author.recorder) + ', ' + time(at);

/** The interventions of a side, each on a line with its notes; the side's own nodes come below. */
const interventionLines = ({ interventionFrames, interventions }: Comparison['a'], width: number): string => {
  const lines = interventionFrames.slice(0, MAX_INTERVENTIONS).map((frame) => {
    const { type = 'intervention', notes = '' } = frame.intervention ?? {};
    const line = `! @s${frame.seq}  ${type}  ${authorAndTime(frame)}${notes === '' ? '' : `: ${notes}`}`;
    return oneLine(line, Math.min(width, 160)) + '\n';
  });
  const more = interventions - lines.length;
  return lines.join('') + (more > 0 ? `! and ${more} more interventions\n` : '');
};

const countTable = ({ mergeBase, a, b }: Comparison): string => {
  const row = (
    title: string,
    ofBase: (base: NonNullable<typeof mergeBase>) => string | number,
    of: (side: Comparison['a']) => string | number,
  ): string[] => [
    title,
    ...(mergeBase === null ? [] : [String(ofBase(mergeBase))]),
    String(of(a)),
    String(of(b)),
  ];
  const both = (title: string, of: (side: NonNullable<typeof mergeBase>) => string | number): string[] =>
    row(title, of, of);
  const since = (title: string, of: (side: Comparison['a']) => number): string[] => row(title, () => '', of);
  return table(
    ['', ...(mergeBase === null ? [] : ['MERGE BASE']), 'A', 'B'],
    [
      both('position', ({ position }) => position.label),
      both('branch', ({ position }) => position.branchId),
      both('tokens', ({ tokens }) => tokens),
      both('blocks shown', ({ shown }) => shown),
      both('nodes', ({ nodes }) => nodes),
      both('turns', ({ turns }) => turns),
      since(mergeBase === null ? 'frames' : 'frames since', ({ frames }) => frames),
      since('interventions', ({ interventions }) => interventions),
      since('added', ({ added }) => added.length),
      since('removed', ({ removed }) => removed.length),
      since('changed', ({ changed }) => changed.length),
    ],
  );
};

/** So many messages that differ are listed; the rest is counted. */
const MAX_DIFFERENCES = 20;

/**
 * What the model is shown on one side only, each with whoever made it differ; nothing where one side goes on from the other. What
 * was recorded after the first call that differs is counted: the sides list it.
 */
const describeDifferences = ({ relation, threads }: Comparison, width: number): string => {
  if (relation !== 'diverged' && relation !== 'apart') return '';
  const { same, differences, since } = threads;
  if (differences.length === 0) return `the model is shown the same ${count(same, 'message')}\n`;
  const first = differences.filter(({ after }) => after === null);
  const lines = first.slice(0, MAX_DIFFERENCES).map((each) => describeDifference(each, width));
  const more = first.length - lines.length;
  const later = differences.length - first.length;
  return (
    `shown to the model: ${count(same, 'message')} the same, ${differences.length} different` +
    `${since === null ? '' : `; @c${since} is the first call that was shown something else`}\n` +
    lines.join('') +
    (more > 0 ? `and ${more} more\n` : '') +
    (later > 0 ? `${later} recorded after @c${since}\n` : '')
  );
};

/** The tools and parameters that the newest calls of both sides do not share. */
const describeRequest = ({ request }: Comparison): string =>
  request === null || request.length === 0
    ? ''
    : `asked of the model, besides its messages: ${count(request.length, 'difference')}\n${requestChangeLines(
        request,
      )
        .map((line) => `${line}\n`)
        .join('')}`;

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

/** An excerpt in words; a call of a tool as people write it, if it is whole. */
const wordsOf = ({ kind, excerpt }: Pick<ComparedNode, 'kind' | 'excerpt'>): string | null => {
  if (kind !== 'call' || excerpt === null) return excerpt;
  try {
    return contentWords(parseJson(excerpt));
  } catch {
    return excerpt;
  }
};

const describeDifference = ({ a, b, causes }: ComparedMessage, width: number): string => {
  const line = (side: string, { id, role, ...node }: ComparedNode): string =>
    oneLine(
      `${side} ${id}  ${[role, wordsOf(node)].filter((word) => word !== null && word !== '').join('  ')}`,
      Math.min(width, 160),
    ) + '\n';
  const because = causes.map(
    ({ side, how, frame }) =>
      `  ${how} in ${side.toUpperCase()} by ${authorAndTime(frame)}, @s${frame.seq}${notesText(frame)}\n`,
  );
  return [...a.map((node) => line('A', node)), ...b.map((node) => line('B', node)), ...because].join('');
};

const describeSide = (title: 'A' | 'B', comparison: Comparison, width: number): string => {
  const { relation, alike, mergeBase } = comparison;
  const side = title === 'A' ? comparison.a : comparison.b;
  const { removed, changed } = side;
  const onBoth = new Set(
    relation === 'diverged' ? alike.map((pair) => (title === 'A' ? pair.a : pair.b)) : [],
  );
  const added = side.added.filter(({ id }) => !onBoth.has(id));
  const interventionText = interventionLines(side, width);
  const line = (sign: string, { id, nodeType, role, ...node }: ComparedNode, more: string): string =>
    oneLine(
      `${sign} ${id}  ${[role, more, wordsOf(node) ?? (nodeType === 'mt' ? 'a turn' : 'a container')].filter((word) => word !== null && word !== '').join('  ')}`,
      Math.min(width, 160),
    ) + '\n';
  const lines = [
    ...added.map((node) => line('+', node, '')),
    ...removed.map((node) => line('-', node, '')),
    ...changed.map((node) => line('~', node, node.fields.join(', '))),
    ...(onBoth.size > 0 ? [`= ${onBoth.size} more that both have added\n`] : []),
  ];
  const heading = mergeBase === null ? `only in ${title}` : `${title} since the merge base`;
  return interventionText === '' && lines.length === 0
    ? ''
    : `${heading}:\n${interventionText}${lines.join('')}`;
};
