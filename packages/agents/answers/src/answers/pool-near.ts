import { nearestOf } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import { vectorOfText } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';
import { embeddedAt } from '../embedded-at.ts';
import { ASKS_NOBODY } from '../asks-nobody.ts';

export const poolNear: ContractAnswer<'poolNear'> = async (
  { home },
  { message, text, limit = 20, ...where },
) => {
  if ((message === undefined) === (text === undefined))
    throw fail('E_USAGE', 'what is near is asked of a `message` or of a `text`: name one');
  const { position, of, embedder, messages } = await embeddedAt(home, where);
  const self = messages.find(({ node }) => node === message);
  if (message !== undefined && self === undefined)
    throw fail('E_NODE_NOT_FOUND', `the pool has no message ${message} with a vector at ${position}`, {
      id: message,
    });
  const others = messages.filter((each) => each !== self);
  const near = nearestOf(
    others.map(({ vector }) => vector),
    self?.vector ?? (await vectorOfText(home, of, embedder, text ?? '', { minds: ASKS_NOBODY })),
    limit,
  );
  return {
    position,
    near: near.map(({ row, similarity }) => ({ id: others[row]?.node ?? '', similarity })),
  };
};
