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

/** Script and styles of the page tell nothing, and are asked for with each opening: a browser may keep them, if it asks. */
const assetHeaders = toLines({ ...standing, 'Cache-Control': 'no-cache' })

/** Headers of every answer under /admin, refusals included: each `name: value` after a line end. No CORS is among them. */
export function adminHeaders(path: string): string {
  return path.startsWith('/admin/assets/') ? assetHeaders : headers
}

function toLines(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `\r\n${name}: ${value}`)
    .join('')
}
