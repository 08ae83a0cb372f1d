import { toWireJson } from '@stemma/api';
import { visibleText } from '@stemma/errors';
import { errorText, openOutput, printable, type Output } from '../output.ts';
import type { Surroundings } from '../surroundings.ts';
import { agentPage, dataFrame, type WantedPage } from './agent-page.ts';

/** An output that keeps what a command prints, and prints one page of it at the end. */
export type AgentOutput = Output & {
  /** @param next what may be asked next. @throws E_CURSOR_STALE, E_USAGE for a cursor that is none */
  readonly finish: (next: readonly string[]) => Promise<void>;
};

/** Plain text for a language model: no colours, no width; what is said beside the answer stands in it as a note. */
export const openAgentOutput = (around: Surroundings, wanted: WantedPage): AgentOutput => {
  const output = openOutput(around, false);
  const pieces: string[] = [];
  const add = (text: string): Promise<void> => {
    pieces.push(visibleText(text));
    return Promise.resolve();
  };
  return {
    ...output,
    isForAgent: true,
    isTerminal: false,
    colours: false,
    width: Number.POSITIVE_INFINITY,
    write: add,
    writeLines: add,
    writeBytes: (bytes) => add(Buffer.from(bytes).toString()),
    result: (_value, human) => add(human()),
    async list(items) {
      for await (const item of items) await add(`${toWireJson(item)}\n`);
    },
    // A sentence may name what was recorded.
    error: (error) => void around.stderr.write(dataFrame(errorText(error))),
    say: (text) => void add(`note: ${printable(text)}\n`),
    finish: async (next) => {
      const { tokenCounter } = await import('@stemma/read-models');
      const counter = await tokenCounter();
      await output.writeLines(agentPage(pieces.join(''), wanted, next, (text) => counter.count(text)));
    },
  };
};
