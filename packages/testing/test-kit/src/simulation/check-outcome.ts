import { checkpointAtStart, readFrame, readPartition, verifyLog, type HeadState } from '@stemma/log';
import { verifyReplay } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import type { SentCommand } from './clients.ts';
import type { SimulatedHome } from './opened.ts';
import type { Simulation } from './simulation.ts';

/** Compares what the log and the rows have at the end with the answers that clients got. */
export const checkOutcome = async (
  simulation: Simulation,
  opened: SimulatedHome,
  sent: readonly SentCommand[],
): Promise<void> => {
  const wrong = (sentence: string): void => void simulation.wrong.push(sentence);
  const frames = await acceptedFrames(simulation, opened);
  for (const { command, answer, refused } of sent) {
    const found = frames.filter((each) => each.command === command.id);
    if (found.length > 1) wrong(`${command.id} is there ${found.length} times`);
    if (answer === undefined) {
      if (refused === undefined) continue;
    } else if (found.length === 0) wrong(`${command.id} was acknowledged and is gone`);
    else if (found[0]?.history !== command.history || found[0].seq !== answer.seq)
      wrong(`${command.id} is there, but not as it was answered`);
  }
  const { problems } = await verifyLog(opened.log, { contents: simulation.contents });
  for (const { kind, message, partition, offset } of problems) {
    simulation.count(`${kind} records`);
    // What a power loss leaves of an unacknowledged group may have holes; nothing else may be there.
    const isHole = simulation.holes.some(
      (hole) => hole.partition === partition && hole.from <= offset && offset < hole.to,
    );
    if (kind === 'defective' || kind === 'content' || !isHole) wrong(`the log has a problem: ${message}`);
  }
  const replayed = await verifyReplay(opened.projector, {
    scratch: () => openMemoryRowStore(),
    batchSizes: [1 + simulation.dice.int(5)],
  });
  if (replayed.differences > 0)
    wrong(`${replayed.differences} rows differ from replayed ones, in ${replayed.first?.table ?? ''}`);
};

type Found = { readonly history: string; readonly seq: number; readonly command: string };

/** Every frame that a reader who starts now accepts. */
const acceptedFrames = async ({ contents }: Simulation, { log }: SimulatedHome): Promise<Found[]> => {
  const all: Found[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const heads = new Map<string, HeadState>();
    const checkpoint = await checkpointAtStart(log, partition);
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
      for (const [history, head] of batch.heads) heads.set(history, head);
      for (const accepted of batch.accepted) {
        if (accepted.control) continue;
        const { envelope, body } = await readFrame(accepted, contents);
        all.push({ history: envelope.history, seq: envelope.seq, command: body.command });
      }
    }
  }
  return all;
};
