const hosts: [provider: string, host: RegExp][] = [
  ['zoom', /(^|\.)zoom\.(us|com)$/],
  ['microsoft', /(^|\.)teams\.(microsoft|live)\.com$/],
  ['google', /^meet\.google\.com$/],
]

/** The provider whose address this is; null for any other. */
export function inferProvider(joinUrl: string): string | null {
  const host = new URL(joinUrl).hostname
  return hosts.find(([, pattern]) => pattern.test(host))?.[0] ?? null
}

/** What people type to join: in the links of Zoom and Google the last part of the path, elsewhere the provider's id. */
export function codeOf(provider: string | null, providerId: string | null, joinUrl: string): string | null {
  const inLink = provider === 'zoom' || provider === 'google' ? lastSegment(joinUrl) : ''
  return inLink || providerId
}

function lastSegment(url: string): string {
  return new URL(url).pathname.split('/').findLast(Boolean)?.slice(0, 256) ?? ''
}
