export { defined, type Defined } from './defined.ts';
export { millisecondsOf, nanosecondsOf } from './time.ts';
