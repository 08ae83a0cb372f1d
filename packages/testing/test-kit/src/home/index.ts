export { openHome, type Home } from '@stemma/home';
export { memoryServices, type MemoryServices } from './memory-services.ts';
export {
  contentsOf,
  damage,
  eraseRecord,
  named,
  open,
  say,
  send,
  start,
  temporaryHome,
} from './small-home.ts';
