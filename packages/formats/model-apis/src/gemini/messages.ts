import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { blockMessages } from '../blocks/read-blocks.ts';
import { geminiForm } from './form.ts';

/**
 * The contents of Gemini's API in the form of OpenAI's chat API. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN
 */
export const geminiMessages = (
  system: WideJson | undefined,
  contents: WideJson | undefined,
): WideJsonObject[] => blockMessages(geminiForm, system, contents);
