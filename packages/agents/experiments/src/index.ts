export { experimentReport, type ReportComputations, type ReportQuestion } from './experiment-report.ts';
export { isPlan, parsePlan, planHash, type ExperimentPlan } from './plan.ts';
export { runPlan, type PlanProgress, type PlanRun, type RanPlan } from './run-plan.ts';
export { recordedArms, type Arms, type RecordedArms } from './recorded-runs.ts';
export { verdictDocument } from './verdict-document.ts';
export {
  armFigures,
  comparePassed,
  liveFigures,
  type ArmFigures,
  type ArmRerun,
  type LiveFigures,
  type PassedComparison,
} from './rerun-arms.ts';
