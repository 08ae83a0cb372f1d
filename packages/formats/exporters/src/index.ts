export { EXPORTERS } from './catalogue.ts';
export type { ExportedBranch, ExportedCall, ExportedStep, Exporter, ExportSource } from './exporter.ts';
export { type Losses, openLosses } from './losses.ts';
export {
  type RequestToExport,
  isRequestFormat,
  REQUEST_FORMATS,
  requestFor,
  type RequestFormat,
} from './request.ts';
