import { createHash } from 'node:crypto'

/** What every vendor takes as the name of a tool. */
const nameLength = 64

/** The name by which the model calls a tool of a server. */
export function toModelName(server: string, tool: string): string {
  const name = `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_')
  if (name.length <= nameLength) return name
  const hash = createHash('sha256').update(`${server}__${tool}`).digest('hex').slice(0, 8)
  return `${name.slice(0, nameLength - 9)}_${hash}`
}
