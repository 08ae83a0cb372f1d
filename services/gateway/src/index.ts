export { openGatewayMetrics } from './gateway-metrics.ts';
export { createGateway, type GatewayOptions } from './gateway.ts';
export { refuseForeign } from './guard.ts';
export { DEFAULT_PORT, listenOn, type Gateway } from './front/listen-on.ts';
export { serveGateway, type ServeOptions } from './serve.ts';
export type { ProxyCounts } from './proxy/proxy-counts.ts';
export { namedUpstreamsOf, upstreamIn, upstreamsOf } from './proxy/address.ts';
export {
  openCommandRecorder,
  type CommandRecorder,
  type CommandRecorderOptions,
  type TunnelledHost,
} from './forwarder/open-command-recorder.ts';
export { queryTimeoutOf, serveHome, type ServeHomeOptions } from './serve-home.ts';
export { writeInterceptFiles, type InterceptFiles } from './intercept/intercept-files.ts';
export { isReadEntry, type InterceptedHosts } from './intercept/read-hosts.ts';
