export { type Assignment, openAssignment } from './assignment.ts';
export { sqlStateOf } from './database-error.ts';
export {
  type Cells,
  type Database,
  type DatabaseSession,
  type Deadlines,
  decodeBytea,
  openDatabase,
  type Parameter,
} from './database.ts';
export { listenTo } from './listen.ts';
export { type Member, type Members, openMembers } from './members.ts';
export { isSchemaAltered, mendSchema, migrate } from './schema.ts';
