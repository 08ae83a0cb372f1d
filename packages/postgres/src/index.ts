export {
  bytesOf,
  openDatabase,
  type Cells,
  type Database,
  type Parameter,
  type Session,
} from './database.ts';
export { migrate } from './schema.ts';
