import type { ErrorToWrite } from '../api-format.ts';
import type { WideJsonObject } from '@stemma/canonical';

/** An error as OpenAI's APIs write it. */
export const openaiError = ({ message, code }: ErrorToWrite): WideJsonObject => ({
  error: { message, type: 'invalid_request_error', param: null, code },
});
