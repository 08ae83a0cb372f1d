export { collect, type Attempt } from './collect.ts';
export { isMissing, missing, missingKind, type Missing, type MissingKind } from './missing.ts';
export { fetching, resume, type Fetcher } from './resume.ts';
