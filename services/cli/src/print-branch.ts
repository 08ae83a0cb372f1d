import type { Outcome } from '@stemma/command-handler';
import { positionRef } from '@stemma/history';
import { lineOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { printable, type Output } from './output.ts';

/** Tells where a fork or rollback goes on: `{history, lineage, strand, name, how, from, abandoned, …}`. */
export const printBranch = async (
  output: Output,
  home: Home,
  { history, strand, seq, events, repeated }: Outcome,
): Promise<void> => {
  const started = events.find((event) => event.type === 'LineageStarted');
  const { label, lineage } = await home.position(lineOf(history, strand), '');
  const from = started === undefined ? null : { strand: started.parent, seq: started.at };
  const abandoned = started?.how === 'rollback' ? `${history}:${started.parent}` : null;
  const result = {
    history,
    lineage,
    strand,
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
    const where = `${result.lineage}${name} goes on from ${result.from ?? ''}`;
    return `${where}${abandoned === null ? '' : `; what was left is ${abandoned}`}${repeated ? ' (was there already)' : ''}\n`;
  });
};
