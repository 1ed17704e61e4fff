/** The servers that a database URL lists, in order, and the URL reduced to the first of them. */
interface DatabaseHosts {
  url: string
  hosts: string[]
  ports: number[]
}

/** Scheme, credentials, servers, and the rest. */
const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/

const defaultPort = 5432

/**
 * Parses `postgres://user@one:5432,two:5432/name`, libpq's form for several hosts (PostgreSQL's documentation, section
 * 32.1.1.2), which URL parsers refuse. Null where the text is no such URL.
 */
export function readHosts(text: string): DatabaseHosts | null {
  const [, start, servers, rest] = form.exec(text) ?? []
  if (start === undefined || servers === undefined) return null
  const names = servers.split(',')
  // The URL parser checks host names and knows how IPv6 is written.
  const parsed = names.map(name => URL.parse(`postgres://${name}`))
  if (names.length > 1 && names.includes('')) return null
  const [first = ''] = names
  const url = `${start}${first}${rest}`
  if (URL.parse(url) === null || parsed.some(one => one === null)) return null
  return {
    url,
    hosts: parsed.map(one => decodeURIComponent(one!.hostname).replace(/^\[(.*)\]$/, '$1')),
    ports: parsed.map(one => Number(one!.port || defaultPort)),
  }
}

/** The servers and the database name without credentials, for messages. */
export function describeHosts(text: string): string {
  const { url, hosts, ports } = readHosts(text)!
  return `${hosts.map((host, i) => `${host}:${ports[i]}`).join(',')}${new URL(url).pathname}`
}
