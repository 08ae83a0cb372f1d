import { REPORT_POLICY } from '@stemma/reports';

/** The page loads scripts and styles of its own and talks to its own server; nothing else, and nobody frames it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The same for a page in one file: nothing but its own style sheet, which the policy names by its hash. */
export const REPORT_SECURITY_POLICY = `${REPORT_POLICY}; frame-ancestors 'none'`;

const SAFE = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The headers of an answer, with those that every answer has: what a browser may do with it. */
export const withSafeHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> => ({
  ...SAFE,
  ...headers,
});
