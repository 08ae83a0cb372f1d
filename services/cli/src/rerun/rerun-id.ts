import { randomBytes } from 'node:crypto';

/** A new id of a rerun. */
export const newRerunId = async (): Promise<string> => {
  const { RERUN } = await import('@stemma/history');
  return `${RERUN}${randomBytes(4).toString('hex')}`;
};
