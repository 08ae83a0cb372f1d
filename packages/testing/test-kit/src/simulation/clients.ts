import { openCommandHandler } from '@stemma/command-handler';
import { isStemmaError } from '@stemma/errors';
import { historyId, type Command } from '@stemma/history';
import { partitionOf } from '@stemma/log';
import { acknowledge } from './acknowledge.ts';
import { DAMAGE, note, openIn } from './opened.ts';
import type { Process, Simulation } from './simulation.ts';

/** A command of a client, who sends it until it has an answer. */
export type SentCommand = {
  readonly command: Command;
  /** The command that must have its answer before. */
  readonly after: SentCommand | undefined;
  answer: { readonly partition: number; readonly seq: number; readonly end: number } | undefined;
  /** A code that says that it will never be accepted. */
  refused: string | undefined;
};

const by = { recorder: 'client' };

/** The commands of a run: of some histories, each started first. */
export const commandsOf = ({ dice }: Pick<Simulation, 'dice'>): SentCommand[] => {
  const all: SentCommand[] = [];
  const send = (command: Command, after?: SentCommand): SentCommand => {
    const sent = { command, after, answer: undefined, refused: undefined };
    all.push(sent);
    return sent;
  };
  for (let h = 1 + dice.int(3); h > 0; h--) {
    const history = historyId(`history ${h}`, '');
    const start = send({
      id: `start ${h}`,
      history,
      branchId: 0,
      by,
      steps: [{ op: 'start', name: `history${h}` }],
    });
    for (let i = dice.int(12); i > 0; i--) {
      const content = `text ${i} `.repeat(1 + dice.int(dice.chance(0.2) ? 150 : 10));
      const node = { nodeType: 'cb', offset: 0, role: 'user', kind: 'text', content };
      send(
        {
          id: `insert ${h}.${i}`,
          history,
          branchId: 0,
          by,
          steps: [
            { op: 'insert', parent: '^ah', node },
            ...(dice.chance(0.4) ? [{ op: 'commit' as const }] : []),
          ],
        },
        start,
      );
    }
  }
  return all;
};

export const isDone = ({ answer, refused }: SentCommand): boolean =>
  answer !== undefined || refused !== undefined;

/** One process: it sends commands, folds rows, and now and then closes everything and ends. */
export const runProcess = async (
  simulation: Simulation,
  process: Process,
  sent: readonly SentCommand[],
): Promise<void> => {
  const { dice } = simulation;
  const opened = await openIn(simulation, process);
  for (let partition = 0; partition < opened.log.partitions; partition++)
    if ((await opened.log.end(partition).catch(() => Infinity)) < acknowledgedEnd(sent, partition))
      simulation.wrong.push('a log was opened that ends before an acknowledged record');
  const handler = openCommandHandler({
    log: opened.log,
    contents: simulation.contents,
    rows: opened.projector,
    clock: simulation.machineOf(process).clock,
    accepted: () => undefined,
    decoded: opened.decoded,
    timers: { random: dice.roll, sleep: (ms) => simulation.turn(process, ms), now: () => simulation.now() },
  });
  const client = async (): Promise<void> => {
    for (;;) {
      const open = sent.filter((each) => !isDone(each) && (each.after === undefined || each.after.answer));
      if (open.length === 0) return;
      const next = dice.pick(open);
      try {
        const { seq } = await handler.submit(next.command);
        answered(simulation, next, seq);
      } catch (error) {
        note(simulation, process, next.command.id, error);
        if (isStemmaError(error) && DAMAGE.has(error.code)) next.refused ??= error.code;
        if (isStemmaError(error, 'E_PARTITION_CLOSED'))
          await acknowledge(simulation, opened).catch((failed: unknown) =>
            note(simulation, process, 'acknowledging', failed),
          );
        await simulation.turn(process, dice.int(20));
      }
    }
  };
  const fold = async (): Promise<void> => {
    while (!sent.every((each) => isDone(each) || each.after?.refused)) {
      await opened.projector.catchUp().catch((error: unknown) => note(simulation, process, 'folding', error));
      await simulation.turn(process, dice.int(8));
    }
  };
  const clients = Array.from({ length: 1 + dice.int(5) }, () => client());
  const work = [fold(), ...clients];
  if (dice.chance(0.2)) await Promise.race([simulation.turn(process, dice.int(200)), Promise.all(work)]);
  else await Promise.all(work);
  await handler.close();
  await opened.log.close();
  simulation.count('processes that ended by themselves');
};

const answered = (simulation: Simulation, sent: SentCommand, seq: number): void => {
  simulation.count('answers');
  if (sent.answer !== undefined && sent.answer.seq !== seq)
    simulation.wrong.push(`${sent.command.id} got two answers: ${sent.answer.seq} and ${seq}`);
  const partition = partitionOf(sent.command.history, simulation.conditions.partitions);
  // What readers see now lies behind the record.
  sent.answer ??= { partition, seq, end: simulation.lock.endIn(simulation.boot(), partition) ?? 0 };
};

export const acknowledgedEnd = (sent: readonly SentCommand[], partition: number): number =>
  Math.max(0, ...sent.map(({ answer }) => (answer?.partition === partition ? answer.end : 0)));
