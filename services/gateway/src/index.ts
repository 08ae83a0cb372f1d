export { openCounting } from './counting.ts';
export { createGateway, type GatewayOptions } from './gateway.ts';
export { DEFAULT_PORT, serveGateway, type Gateway, type ServeOptions } from './serve.ts';
