import type { Home } from '@stemma/home';
import type { RunView } from '@stemma/pools';
import type { CommandSpec } from './command.ts';
import { printable, table } from './output.ts';
import { time } from './time.ts';
import { titleOf } from './titles.ts';

type Output = Parameters<CommandSpec['run']>[0]['output'];

/** Shows one run. */
export const shown = async (output: Output, home: Home, view: RunView): Promise<void> => {
  const names = await namesOf(home, [view]);
  await output.result(view, () => listed([view], names, output.width));
};

/** The names of the pools. */
export const namesOf = async (
  home: Home,
  views: readonly RunView[],
): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>();
  for (const { history } of views) if (!names.has(history)) names.set(history, await titleOf(home, history));
  return names;
};

const poolIn = (name: string, branchId: number): string =>
  printable(branchId === 0 ? name : `${name}:${branchId}`);

export const listed = (
  views: readonly RunView[],
  names: ReadonlyMap<string, string>,
  width: number,
): string =>
  table(
    ['RUN', 'POOL', 'ASKED', 'ROUNDS', 'STATE', 'BY', 'WHY'],
    views.map(({ run, history, branchId, at, done, rounds, state, actor, notes, runner, ended }) => [
      printable(run),
      poolIn(names.get(history) ?? history, branchId),
      time(at),
      `${done}/${rounds}`,
      ended?.how ?? state,
      printable(actor),
      printable(ended?.why ?? (runner === null ? notes : `${runner} makes its rounds`)),
    ]),
    width,
  );
