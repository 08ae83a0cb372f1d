export { defined, type Defined } from './defined.ts';
export { inOrder, inOrderByKey } from './in-order.ts';
export { amountOf, unitsOf } from './money.ts';
export { RecentMap } from './recent-map.ts';
export { millisecondsOf, nanosecondsOf } from './time.ts';
