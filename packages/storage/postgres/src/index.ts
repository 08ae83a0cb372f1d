export { openPostgresContents } from './contents/postgres-contents.ts';
export { type Assignment, openAssignment } from './database/assignment.ts';
export { sqlStateOf } from './database/database-error.ts';
export {
  type Cells,
  type Database,
  type DatabaseSession,
  type Deadlines,
  decodeBytea,
  openDatabase,
  type Parameter,
} from './database/database.ts';
export { listenTo } from './database/listen.ts';
export { type Member, type Members, openMembers } from './database/members.ts';
export { isSchemaAltered, mendSchema, migrate } from './database/schema.ts';
export { openPostgresRowStore, type PostgresRowStore } from './rows/postgres-row-store.ts';
