import type { Answers } from '@stemma/answers';
import type { Home } from '@stemma/home';

/**
 * The answers of a home: what HTTP answers. `ask` refuses what the contract of a question does; `byName` is for
 * commands that take more than HTTP does, such as an empty position. Commands that ask nothing do not load them.
 */
export const answersOf = async (home: Home): Promise<Answers> => {
  const { openAnswers } = await import('@stemma/answers');
  return openAnswers(home);
};
