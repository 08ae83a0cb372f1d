export { runRelay, type RelayOptions, type RelayReport } from './relay.ts';
