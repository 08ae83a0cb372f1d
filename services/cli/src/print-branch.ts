import type { Outcome } from '@stemma/command-handler';
import { positionRef } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { printable, type Output } from './output.ts';

/** Tells where a fork or rollback goes on: `{history, branch, branch, name, how, from, abandoned, …}`. */
export const printBranch = async (
  output: Output,
  home: Home,
  { history, branchId, seq, events, repeated }: Outcome,
): Promise<void> => {
  const started = events.find((event) => event.type === 'BranchStarted');
  const { label, branch } = await home.position(branchRefOf(history, branchId), '');
  const from = started === undefined ? null : { branchId: started.parent, seq: started.at };
  const abandoned = started?.how === 'rollback' ? `${history}:${started.parent}` : null;
  const result = {
    history,
    branch,
    branchId,
    seq,
    position: label,
    name: started?.name ?? null,
    how: started?.how ?? null,
    from: from === null ? null : positionRef(from),
    abandoned,
    repeated,
  };
  await output.result(result, () => {
    const name = result.name === null ? '' : ` (${printable(result.name)})`;
    const branchText = `${result.branch}${name} goes on from ${result.from ?? ''}`;
    return `${branchText}${abandoned === null ? '' : `; what was left is ${abandoned}`}${repeated ? ' (was there already)' : ''}\n`;
  });
};
