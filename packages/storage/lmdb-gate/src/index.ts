export { enterEnvironment, type Entered } from './enter.ts';
export { findLmdbDamage } from './find-damage.ts';
export { filesOfFile } from './lmdb-files.ts';
export { hasOthers } from './users.ts';
export { copyMark, isInUse, nextFolder } from './numbered-folders.ts';
export { openGateBeside, type Gate } from './gate.ts';
export { openRoom, type Room } from './room.ts';
