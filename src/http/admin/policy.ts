/**
 * The Content-Security-Policy of the page: scripts, styles, pictures, fonts and requests of this server only. The page
 * shows what users wrote, so an injected script should gain nothing.
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

const standing = {
  'Content-Security-Policy': contentPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Vary: 'Cookie, Origin',
}

const headers = toLines({ ...standing, 'Cache-Control': 'no-store' })

/** The page's files are public and requested with each opening: a browser may cache them if it revalidates. */
const assetHeaders = toLines({ ...standing, 'Cache-Control': 'no-cache' })

/** Headers of every answer under /admin, refusals included, each as `name: value` after a line end. No CORS headers. */
export function adminHeaders(path: string): string {
  return path.startsWith('/admin/assets/') ? assetHeaders : headers
}

function toLines(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `\r\n${name}: ${value}`)
    .join('')
}
