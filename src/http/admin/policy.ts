/**
 * What the page may do: run scripts, load styles, pictures and fonts of this server, and call it. It shows what users wrote,
 * so that it is to be of no use to whoever gets a script into it.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

/** Headers of every answer under /admin, refusals included: each `name: value` after a line end. No CORS is among them. */
export const adminHeaders = Object.entries({
  'Content-Security-Policy': contentPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  Vary: 'Cookie, Origin',
})
  .map(([name, value]) => `\r\n${name}: ${value}`)
  .join('')
