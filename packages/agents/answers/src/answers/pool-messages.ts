import { fail } from '@stemma/errors';
import { viewPool, filterMessages, messagesNear, messagesWithWords, messageDocument } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';
import { ASKS_NOBODY } from '../asks-nobody.ts';

export const poolMessages: ContractAnswer<'poolMessages'> = async (
  { home },
  { history, at, words, like, skip = 0, limit, active, ...rounds },
) => {
  if (words !== undefined && like !== undefined)
    throw fail('E_USAGE', '`words` and `like` are two questions: ask one');
  const view = await viewPool(home, await home.find(history), at);
  const most = Math.min(limit ?? (like === undefined ? 100 : 10), MOST_MESSAGES);
  const wanted = filterMessages(view.messages, { ...rounds, active: active === 'true' });
  const found =
    like !== undefined
      ? await messagesNear(home, view, wanted, { text: like, most: skip + most, minds: ASKS_NOBODY })
      : words !== undefined
        ? messagesWithWords(wanted, words)
        : wanted;
  return {
    position: view.position.label,
    total: like === undefined ? found.length : wanted.length,
    messages: found.slice(skip, skip + most).map(messageDocument),
  };
};

const MOST_MESSAGES = 1_000;
