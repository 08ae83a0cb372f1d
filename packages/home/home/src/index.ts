export type { Home } from './home.ts';
export { type HomeOptions, openHome } from './open-home.ts';
export { openHomeKeyring } from './home-keyring.ts';
export { openGroupProjector, openSharedDatabase, type SharedDatabase } from './open-rows.ts';
export { type LogSource, openLogSource } from './open-source.ts';
export { isAccessDenied, openRetry, type Retry } from '@stemma/operations';
export { type CallChange, type HeldCall, type MessageEdit, steeringVersion } from '@stemma/steering';
