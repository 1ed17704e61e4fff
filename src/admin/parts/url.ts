/** What is shown in place of a password. */
const mask = '***'

/** A URL as it is shown: its password is a secret of the server that it names. */
export function maskUrl(text: string): string {
  return withPassword(text, ({ password }) => password && mask)
}

/** An edited URL, with the password of the URL before where it still has the mask in its place. */
export function unmaskUrl(text: string, before: string): string {
  return withPassword(text, ({ password }) => (password === mask ? (URL.parse(before)?.password ?? '') : password))
}

function withPassword(text: string, toPassword: (url: URL) => string): string {
  const url = URL.parse(text)
  if (url === null) return text
  const password = toPassword(url)
  if (password === url.password) return text
  url.password = password
  return url.href
}
