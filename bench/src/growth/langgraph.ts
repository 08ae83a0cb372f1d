import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { spread, timed } from '../measure.ts';
import { openLangGraph, type Channels } from '../peers/langgraph.ts';
import { lookedAt, said } from './conversation.ts';
import { ofTurns, onDisk, WARM_TURNS, type Growth, type GrowthInput } from './figures.ts';

/** Records another conversation in another file: the code that runs is compiled. */
const warmUp = async (directory: string, channels: Channels): Promise<void> => {
  mkdirSync(directory, { recursive: true });
  const graph = openLangGraph(join(directory, 'checkpoints.db'), channels);
  for (let turn = 1; turn <= WARM_TURNS; turn += 1) {
    const { question, answer } = said(turn);
    await graph.turn(question, answer);
  }
  graph.close();
  rmSync(directory, { recursive: true });
};

/** The conversation in LangGraph: a turn is one `invoke` of a graph whose only node gives the answer. */
export const growLangGraph = async (
  input: GrowthInput & { readonly channels: Channels },
): Promise<Growth> => {
  mkdirSync(input.directory, { recursive: true });
  await warmUp(`${input.directory}-before`, input.channels);
  const file = join(input.directory, 'checkpoints.db');
  const turns: number[] = [];
  const storing: number[] = [];
  const checkpoints: string[] = [];
  const writing = openLangGraph(file, input.channels);
  for (let turn = 1; turn <= input.turns; turn += 1) {
    const { question, answer } = said(turn);
    turns.push((await timed(() => writing.turn(question, answer))).ms);
    storing.push(writing.saving());
    checkpoints.push(writing.newest());
  }
  writing.close();

  const reading = openLangGraph(file, input.channels);
  const reads: number[] = [];
  const order = lookedAt(input.turns, 2 * input.reads);
  for (const [i, turn] of order.entries()) {
    const { ms, value } = await timed(() => reading.read(checkpoints[turn - 1]!));
    if (value.length !== 2 * turn) throw new Error(`turn ${turn} gave ${value.length} messages`);
    if (i >= order.length / 2) reads.push(ms);
  }
  reading.close();
  return {
    bytes: onDisk(input.directory),
    asked: null,
    parts: {},
    ...ofTurns(turns),
    inNewHome: null,
    storing: spread(storing),
    snapshot: spread(reads),
    node: null,
    row: null,
  };
};
