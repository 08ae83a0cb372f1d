import { isStemmaError, type ErrorCode } from '@stemma/errors';

/** What is answered, or the code of the error if it is one of these. @throws any other error */
export const answerOrCode = async <T, Code extends ErrorCode>(
  answer: Promise<T>,
  ...codes: readonly Code[]
): Promise<T | Code> => {
  try {
    return await answer;
  } catch (error) {
    const code = codes.find((each) => isStemmaError(error, each));
    if (code === undefined) throw error;
    return code;
  }
};
