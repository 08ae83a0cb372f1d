import { REPORT_POLICY } from '@stemma/reports';
import type { MiddlewareHandler } from 'hono';

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

/** Sets the headers of every answer: what a browser may do with it. */
export const setSafeHeaders = (headers: Headers): void => {
  if (!headers.has('content-security-policy'))
    headers.set('content-security-policy', CONTENT_SECURITY_POLICY);
  headers.set('x-content-type-options', 'nosniff');
  headers.set('referrer-policy', 'no-referrer');
  headers.set('cross-origin-opener-policy', 'same-origin');
  headers.set('cross-origin-resource-policy', 'same-origin');
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
};

export const safeHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  setSafeHeaders(c.res.headers);
};
