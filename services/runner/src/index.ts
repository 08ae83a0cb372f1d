export { runRunner, type RunnerReport, type RunnerRun } from './run-runner.ts';
