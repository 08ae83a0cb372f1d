export type { AnswerError, ModelAnswer, TokenUsage } from './answer.ts';
export { apiOf, type ModelApi } from './api-of.ts';
export type { UnreadableBody } from './body.ts';
export { priceOf, readPrices, type CallPrice, type PriceTable } from './price-of.ts';
export { readAnswer, type AnswerHead } from './read-answer.ts';
export { readRequest, type ModelRequest, type RequestMapping } from './read-request.ts';
export { sameMessage } from './same-message.ts';
