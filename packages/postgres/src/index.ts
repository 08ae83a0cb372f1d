export { openAssignment, type Assignment, type AssignmentOptions } from './assignment.ts';
export {
  bytesOf,
  openDatabase,
  type Cells,
  type Database,
  type Deadlines,
  type Parameter,
  type Session,
} from './database.ts';
export { listenTo, type Listener } from './listen.ts';
export { stateOf } from './refused.ts';
export { migrate } from './schema.ts';
