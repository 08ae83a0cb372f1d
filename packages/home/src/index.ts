export type { Home } from './home.ts';
export { type HomeOptions, openHome } from './open-home.ts';
export { openShared, projectorOf, type Shared } from './open-rows.ts';
export { openSource, type Source } from './open-source.ts';
export { openPatience, type Patience } from './patience.ts';
