/**
 * The cookie's name over TLS: browsers accept the prefix only from the host itself, and send the cookie over TLS only.
 */
const secureName = '__Host-parley'
const plainName = 'parley'

/** A cookie's value: 32 bytes in base64url. */
const valueForm = /^[\w-]{43}$/

/** The session cookie in a Cookie header; null without one, or with a malformed value. */
export function readCookie(header: string, isSecure: boolean): string | null {
  const cookies = new Map<string, string>()
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2)
    if (!cookies.has(name)) cookies.set(name, value)
  }
  const value = cookies.get(secureName) ?? (isSecure ? undefined : cookies.get(plainName))
  return value !== undefined && valueForm.test(value) ? value : null
}

/** A Set-Cookie header for a session cookie: gone when the browser closes, hidden from scripts and other sites. */
export function writeCookie(value: string, isSecure: boolean): string {
  return `${nameOf(isSecure)}=${value}; ${attributes(isSecure)}`
}

/** A Set-Cookie header that deletes the cookie. */
export function clearCookie(isSecure: boolean): string {
  return `${nameOf(isSecure)}=; ${attributes(isSecure)}; Max-Age=0`
}

const nameOf = (isSecure: boolean) => (isSecure ? secureName : plainName)

/** The prefix `__Host-` requires `Path=/`; the server reads the cookie under /admin only. */
const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
