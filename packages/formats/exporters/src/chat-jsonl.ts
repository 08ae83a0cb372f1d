import type { WideJson } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import type { ExportedMessage, Exporter } from './exporter.ts';
import { changed } from './transcript.ts';

/**
 * A line of JSON for the tip of each branch, `{"messages": […], "tools": […]}`, as programs for training and evaluation read them.
 * What an imported file had beside its messages stands there again.
 */
export const chatJsonl: Exporter = {
  name: 'chat-jsonl',
  summary: 'messages of the chat API, one conversation (the tip of a branch) a line',
  isText: true,
  files: [
    {
      suffix: '',
      async *write({ branches }, lost) {
        for (const { branchId, isAlone, steps } of branches) {
          let tools: readonly WideJson[] | null = null;
          let before: readonly ExportedMessage[] = [];
          for await (const { cycle, branchId: of, messages, shared, beside, calls } of steps()) {
            tools = calls.at(-1)?.tools ?? tools;
            if (isAlone || of === branchId) {
              lost.add('facts of a call (model, tokens, times)', calls.length);
              lost.add('message that was shown no more', changed(before, messages, shared).removed);
            }
            before = messages;
            if (cycle !== null) continue;
            yield jsonText({
              messages: messages.map(({ message }) => message),
              ...(tools !== null && tools.length > 0 && { tools }),
              ...beside,
            });
            yield '\n';
          }
        }
      },
    },
  ],
};
