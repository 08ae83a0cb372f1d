export { openGatewayMetrics } from './gateway-metrics.ts';
export { createGateway, type GatewayOptions } from './gateway.ts';
export { DEFAULT_PORT, type Gateway } from './front/listen-on.ts';
export { serveGateway, type ServeOptions } from './serve.ts';
export { namedUpstreamsOf, upstreamsOf } from './proxy/address.ts';
export {
  openCommandRecorder,
  type CommandRecorder,
  type CommandRecorderOptions,
} from './forwarder/open-command-recorder.ts';
export { queryTimeoutOf, serveHome, type ServeHomeOptions } from './serve-home.ts';
