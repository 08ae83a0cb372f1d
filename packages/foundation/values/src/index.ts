export { defined, type Defined } from './defined.ts';
export { inOrder, inOrderByKey } from './in-order.ts';
export { millisecondsOf, nanosecondsOf } from './time.ts';
