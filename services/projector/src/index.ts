export { runProjector, type ProjectorRun } from './run-projector.ts';
