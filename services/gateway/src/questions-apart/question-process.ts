import { openAnswers, UNFORESEEN } from '@stemma/answers';
import { fail, isStemmaError, toWireError, visibleText } from '@stemma/errors';
import { openHome, type Home } from '@stemma/home';
import type { HttpAnswers, Client } from '../answers.ts';
import { openEndpointAnswers } from '../home-answers.ts';
import type { QuestionAnswer, QuestionRequest } from './messages.ts';

/*
 * A process that computes answers for the one that holds the home: it reads rows, log and contents, and writes nothing.
 * It can be killed at any moment, so a question that takes too long, or that nobody waits for, ends with it.
 */
let home: Home | undefined;
/** What this process or that of the home has repaired. */
const repairs: string[] = [];
let answers: HttpAnswers | undefined;
/** Whoever it works for ends this process when nobody waits for an answer any more. */
const CLIENT: Client = { connection: process, program: async () => '', onGone: () => undefined };

const answer = async (request: QuestionRequest): Promise<QuestionAnswer> => {
  if (request.kind === 'open') {
    home = await openHome({
      ...request.home,
      folds: false,
      repairs,
      say: (sentence) => console.error(visibleText(sentence)),
    });
    answers = openEndpointAnswers(openAnswers(home).byName);
    return { kind: 'opened' };
  }
  repairs.push(...request.repairs.filter((sentence) => !repairs.includes(sentence)));
  const given = await answers?.ask(request.name, request.input, CLIENT);
  if (given === undefined || 'pieces' in given) throw fail('E_INTERNAL', `${request.name} is no question`);
  const body = typeof given.body === 'string' ? new TextEncoder().encode(given.body) : given.body;
  return { kind: 'answered', answer: { ...given, body } };
};

process.on('message', (request: QuestionRequest) => {
  void answer(request)
    .catch((error: unknown): QuestionAnswer => {
      if (!isStemmaError(error)) console.error(error);
      const told = isStemmaError(error) ? error : fail('E_INTERNAL', UNFORESEEN);
      return { kind: 'failed', error: toWireError(told) };
    })
    .then((message) => process.send?.(message, undefined, {}, () => undefined));
});
// Ctrl-C reaches every process of a terminal; this one ends with the one that it works for.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
/*
 * Killed, not ended: `process.exit` waits for the thread that appends, and LMDB waits for ever where that thread is
 * stopped inside a transaction. Nothing here is lost with the process.
 */
const end = (): boolean => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', end);
// Whoever it works for may have ended while this program was loaded: that event came before anybody listened.
if (!process.connected) end();
