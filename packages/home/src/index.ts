export type { Home } from './home.ts';
export { type HomeOptions, openHome } from './open-home.ts';
export { openHomeKeyring } from './home-keyring.ts';
export { openGroupProjector, openSharedDatabase, type SharedDatabase } from './open-rows.ts';
export { type LogSource, openLogSource } from './open-source.ts';
export { openRetry, type Retry } from './retry.ts';
export type { HeldCall } from '@stemma/steering';
export { steeringVersion } from './steering-version.ts';
