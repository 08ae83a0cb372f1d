export { openGatewayMetrics } from './gateway-metrics.ts';
export { createGateway, type GatewayOptions } from './gateway.ts';
export { DEFAULT_PORT, type Gateway, serveGateway, type ServeOptions } from './serve.ts';
export { namedUpstreamsOf, upstreamsOf } from './proxy/address.ts';
export { queryTimeoutOf, serveHome, type ServeHomeOptions } from './serve-home.ts';
