import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { blockMessages } from '../blocks/read-blocks.ts';
import { anthropicForm } from './form.ts';

/**
 * The messages of Anthropic's API in the form of OpenAI's chat API. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN
 */
export const anthropicMessages = (
  system: WideJson | undefined,
  messages: WideJson | undefined,
): WideJsonObject[] => blockMessages(anthropicForm, system, messages);
