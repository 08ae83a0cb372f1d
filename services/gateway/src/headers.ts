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

/** Headers of every answer: what a browser may do with it. */
export const safeHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('content-security-policy', CONTENT_SECURITY_POLICY);
  c.header('x-content-type-options', 'nosniff');
  c.header('referrer-policy', 'no-referrer');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};
