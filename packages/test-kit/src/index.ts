export { NO_CHROMIUM, findChromium } from './find-chromium.ts';
export { referenceHistory, type ChainSnapshot, type ReferenceHistory } from './reference-history.ts';
export { HISTORY, naiveHistory, type NaiveHistory } from './naive-history.ts';
export { anyActs, perform, START, type Act } from './random-steps.ts';
export { brokerLibs, cacheFolder } from './kafka/broker-libs.ts';
export {
  freePorts,
  newClusterId,
  startBroker,
  type Broker,
  type BrokerOptions,
  type Ports,
} from './kafka/broker.ts';
export { endRun, findBroker, missingTools, startRun, type Found } from './kafka/find-broker.ts';
export { anyDepths, anySelector, type Words } from './selectors/any-selector.ts';
export { referenceSelect } from './selectors/reference-select.ts';
