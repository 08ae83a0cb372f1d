export { ON_DEMAND, putFolded } from './on-demand-rows.ts';
export { openOnDemand, splitOnDemand, type AskedModels, type Eager } from './open-on-demand.ts';
