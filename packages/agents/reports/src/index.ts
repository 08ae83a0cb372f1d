export { comparisonPage } from './comparison-page.ts';
export {
  experimentPage,
  type ExperimentReport,
  type ReportedBranch,
  type ReportedText,
} from './experiment-page.ts';
export { INTERVENTION_FORMATS, interventionLines, type InterventionFormat } from './intervention-lines.ts';
export { REPORT_POLICY } from './page.ts';
export { rerunPage, type RerunPageReport } from './rerun-page.ts';
