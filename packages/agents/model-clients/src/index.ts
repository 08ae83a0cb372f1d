export { openAllowedMinds } from './allowed-minds.ts';
export { answerOf, requestFor } from './answer-of.ts';
export { askMind, type MindTries } from './ask-mind.ts';
export { openEmbedder, parseEmbedder, type Embedder } from './embedder.ts';
export { KEY_VARIABLES } from './endpoint.ts';
export type { MindLimits } from './limits.ts';
export type { Mind, MindApi, MindAttempt, MindQuestion, MindSurroundings, MindTarget } from './mind.ts';
export { mindEndpointOf, mindSurroundings, mindTargetOf, openMind, type MindOptions } from './open-mind.ts';
export { parseMind, type MindName, type MindProvider } from './parse-mind.ts';
