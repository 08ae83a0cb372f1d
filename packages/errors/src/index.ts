export { ERRORS, type ErrorCode, type ErrorRow } from './table.ts';
export { StemmaError, errorToJson, fail, isStemmaError, type ErrorDetail } from './stemma-error.ts';
export { backOff, type BackOff } from './back-off.ts';
