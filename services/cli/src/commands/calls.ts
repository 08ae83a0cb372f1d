import { attemptAnswer, providerCallAnswer, QUESTIONS } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { unreadReason, type AnyCall } from '@stemma/queries';
import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { calledBy, maybeContinues } from '../draw-branches.ts';
import { printable, table } from '../output.ts';
import { cellsOf, noteOf } from '../call-cells.ts';
import { HISTORY, whole } from '../options.ts';
import { runsText } from '../program-runs.ts';

export const calls: TopCommand = {
  name: 'calls',
  summary: 'list the calls that were made: model, tokens, time, how each ended',
  group: 'Look',
  place: 5,
  example: 'stemma calls mine',
  arguments: [HISTORY],
  options: [
    ['--runs', 'list the programs that were run, and run again, in place of their calls'],
    ['--limit <n>', `with --runs: ${QUESTIONS.runs.query.shape.limit.description ?? ''}`],
  ],
  run: async ({ findBranch, output }, [name], options) => {
    const { home, branchRef } = await findBranch(name);
    const limit = whole(options, 'limit', { least: 1 });
    if (options['runs'] === true) {
      const given = { history: branchRef.branch, ...defined({ limit }) };
      const found = await (await answersOf(home)).ask(QUESTIONS.runs, given);
      await output.result(found, () => runsText(found, output.width));
      return undefined;
    }
    if (limit !== undefined) throw fail('E_USAGE', '--limit says how many runs are listed: give --runs, too');
    if (output.json) {
      await output.list(attemptAnswers(home, branchRef));
      return undefined;
    }
    const rows: string[][] = [];
    const notes: string[] = [];
    for await (const call of callsOf(home, branchRef)) {
      rows.push(cellsOf(call));
      notes.push(
        'method' in call
          ? ''
          : [unreadReason(call) === null ? '' : 'not read', noteOf(call)]
              .filter((part) => part !== '')
              .join('; '),
      );
    }
    const hasNotes = notes.some((note) => note !== '');
    const note = (cell: string): string[] => (hasNotes ? [cell] : []);
    const { branches } = await home.read.history(branchRef.history);
    const caller = branches.find(({ branchId }) => branchId === branchRef.branchId)?.calledBy ?? null;
    if (caller !== null) await output.write(`${printable(calledBy(caller))}\n`);
    const before = branches.find(({ branchId }) => branchId === branchRef.branchId)?.mayContinue ?? null;
    if (before !== null) await output.write(`${printable(maybeContinues(before))}\n`);
    await output.write(
      rows.length === 0
        ? 'no calls are recorded: `stemma record -- COMMAND` records those of a command\n'
        : table(
            [
              'CALL',
              'AT',
              'MODEL',
              'STATUS',
              'TOKENS',
              'COST',
              'FIRST BYTE',
              'TIME',
              'ATTEMPT',
              ...note('NOTE'),
            ],
            rows.map((cells, i) => [...cells, ...note(notes[i] ?? '')]),
            output.width,
            ['ATTEMPT', 'FIRST BYTE'],
          ),
    );
    await output.write(await callsElsewhere(home, branchRef));
    return undefined;
  },
};

/** Where the other calls of a history are. */
const callsElsewhere = async (home: Home, { history, branchId }: BranchRef): Promise<string> => {
  const others = (await home.calls.counts(history)).filter((each) => each.branchId !== branchId);
  if (others.length === 0) return '';
  const { branches } = await home.read.history(history);
  const lines = others.slice(-MOST_BRANCHES).map(({ branchId: other, calls: count }) => {
    const known = branches.find((each) => each.branchId === other);
    return `  ${count} on ${known?.branch ?? `${history}:${other}`}`;
  });
  const what =
    others.length === 1 ? 'Another branch has calls' : `${others.length} other branches have calls`;
  return [`\n${what} of their own:`, ...lines, ''].join('\n');
};

/** The branches that are named, the newest. */
const MOST_BRANCHES = 10;
const PAGE = 500;

async function* callsOf(home: Home, branchRef: BranchRef): AsyncGenerator<AnyCall> {
  for (let from: number | null = 0; from !== null;) {
    const page = await home.calls.listAll(branchRef, { from, limit: PAGE });
    yield* page.calls;
    from = page.next;
  }
}

async function* attemptAnswers(home: Home, branchRef: BranchRef): AsyncGenerator {
  for await (const call of callsOf(home, branchRef))
    yield 'method' in call ? providerCallAnswer(call) : attemptAnswer(call);
}
