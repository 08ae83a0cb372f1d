import type { Outcome } from '@stemma/command-handler';
import { abandonedBranchAddress, positionRef } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { printable, type Output } from './output.ts';
import { titled, titleOf } from './titles.ts';

/** Prints the branch that a fork or rollback starts: `{history, branch, branchId, name, how, from, abandoned, …}`. */
export const printBranch = async (
  output: Output,
  home: Home,
  { history, branchId, seq, events, repeated }: Outcome,
): Promise<void> => {
  const started = events.find((event) => event.type === 'BranchStarted');
  const { label, branch } = await home.position(branchRefOf(history, branchId), '');
  const from = started === undefined ? null : { branchId: started.parent, seq: started.at };
  const abandoned = started?.how === 'rollback' ? abandonedBranchAddress(history, started.parent) : null;
  const abandonedName = started?.how === 'rollback' ? started.abandoned : null;
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
    abandonedName,
    repeated,
  };
  const title = await titleOf(home, history);
  const asked =
    from === null || output.json
      ? null
      : (await home.position(branchRefOf(history, from.branchId), `@s${from.seq}`)).label;
  await output.result(result, () => {
    // People ask for snapshots; scripts read the frame.
    const place = asked === result.from ? (asked ?? '') : `${asked ?? ''} (${result.from ?? ''})`;
    const name = result.name === null ? '' : ` (${printable(result.name)})`;
    const branchText = `${titled(result.branch, history, title)}${name} continues from ${place}`;
    return `${branchText}${abandoned === null ? '' : `; ${titled(abandoned, history, title)}${abandonedName === null ? '' : ` (${printable(abandonedName)})`} is abandoned`}${repeated ? ' (recorded before)' : ''}\n`;
  });
};
