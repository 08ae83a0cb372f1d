import type { WideJson } from '@stemma/canonical';
import type { Author } from '@stemma/events';
import type { Command } from '@stemma/history';
import { redactMessages } from '@stemma/importers';
import { openRedactor, type RedactorOptions } from '@stemma/redaction';
import { defined } from '@stemma/values';
import type { Backend } from './backend.ts';

/** The backend, given only what the rules leave. @throws E_REDACTION_INVALID */
export const redactingBackend = (backend: Backend, rules: RedactorOptions): Backend => {
  const redactor = openRedactor(rules);
  /** The request in the words of a command, and back: positions in it may be references, which no rule looks at. */
  const redacted = async <Body extends Sent>(body: Body): Promise<Body> => {
    const { id, steps = [], notes, redactions, actor, recorder = '' } = body;
    const by: Author = actor === undefined ? { recorder } : { actor };
    const said = notes === undefined ? {} : { notes };
    const before = redactions === undefined ? {} : { redactions: [...redactions] };
    const whole = { id, history: '', branchId: 0, by, ...said, ...before, steps } as unknown as Command;
    const done = await redactor.command(whole);
    if (done === whole) return body;
    return {
      ...body,
      steps: done.steps,
      ...defined({ notes: done.notes, redactions: done.redactions }),
    };
  };
  return {
    ...backend,
    start: async ({ body }) => {
      await redacted({ ...body, steps: [{ op: 'start', name: body.name ?? null }] });
      return backend.start({ body });
    },
    command: async ({ body, ...input }) => backend.command({ ...input, body: await redacted(body) }),
    recordCall: async ({ body, ...input }) => {
      const { steps: _none, ...rest } = await redacted({ ...body, steps: [] });
      const { messages, found } = await redactMessages(body.messages as readonly WideJson[], (nodes) =>
        redactor.nodes(nodes),
      );
      const redactions = found.flatMap((each, step) => each.map((one) => ({ ...one, step })));
      return backend.recordCall({
        ...input,
        body: {
          ...rest,
          messages: messages as Record<string, unknown>[],
          redactions: [...(rest.redactions ?? []), ...redactions],
        },
      });
    },
  };
};

type Sent = {
  readonly id: string;
  readonly actor?: string | undefined;
  readonly recorder?: string | undefined;
  readonly notes?: string | undefined;
  readonly steps?: readonly unknown[];
  readonly redactions?: readonly object[] | undefined;
};

/** What takes secrets out of the text of a call. @throws E_REDACTION_INVALID */
export const openTextRules = (rules: RedactorOptions): ((text: string) => string) => {
  const redactor = openRedactor(rules);
  return (text) => redactor.text(text);
};
