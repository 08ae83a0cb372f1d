export { recordedArms, type Arms, type RecordedArms } from './recorded-runs.ts';
