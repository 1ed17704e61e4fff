/** The name where the page came over TLS: browsers take such a cookie from this very host alone, and send it over TLS alone. */
const secureName = '__Host-parley'
const plainName = 'parley'

/** What a cookie holds: 32 bytes in base64url. */
const valueForm = /^[\w-]{43}$/

/** The session's cookie in a Cookie header; null where there is none, or none that could be one of ours. */
export function readCookie(header: string, isSecure: boolean): string | null {
  const cookies = new Map<string, string>()
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2)
    if (!cookies.has(name)) cookies.set(name, value)
  }
  const value = cookies.get(secureName) ?? (isSecure ? undefined : cookies.get(plainName))
  return value !== undefined && valueForm.test(value) ? value : null
}

/** A Set-Cookie header. The browser forgets it when it is closed, and shows it to no script and to no other site. */
export function writeCookie(value: string, isSecure: boolean): string {
  return `${nameOf(isSecure)}=${value}; ${attributes(isSecure)}`
}

/** The same for a cookie that is to be forgotten. */
export function clearCookie(isSecure: boolean): string {
  return `${nameOf(isSecure)}=; ${attributes(isSecure)}; Max-Age=0`
}

const nameOf = (isSecure: boolean) => (isSecure ? secureName : plainName)

/** The prefix `__Host-` asks for `Path=/`; the server reads the cookie under /admin alone. */
const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
