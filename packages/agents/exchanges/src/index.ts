export type { Exchange, ExchangeEnd, ExchangeScope, ExchangeStart } from './exchange.ts';
export { exchangeOfRequest } from './exchange-of-request.ts';
export { decoded, decodedLimit } from './decoded.ts';
export {
  beginningOf,
  callScopeOf,
  endExchange,
  type ExchangeTarget,
  readExchange,
  type ReadExchange,
  readExchangeEnd,
  readExchangeStart,
  type ReadExchangeStart,
  recordExchange,
  startExchange,
} from './record-exchange.ts';
export {
  type ProviderExchange,
  readProviderExchange,
  recordProviderExchange,
} from './record-provider-call.ts';
export { openTraceRecorder, type TraceRecorder } from './trace-recorder.ts';
