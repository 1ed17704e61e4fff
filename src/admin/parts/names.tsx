import { guids, type Kind } from '../../resources/apps/kinds.ts'
import { Link } from '../place.tsx'
import { texts } from '../texts.ts'
import { toVisible } from './visible.ts'

interface Named {
  id: number
  uid?: string | undefined
  name?: string | undefined
}

/** What something is called: its name if that can be seen, or else its uid or number. */
export const nameOf = ({ id, uid, name = '' }: Named) => toVisible(name) ?? uid ?? `#${id}`

const kinds = new Map<string, Kind>(Object.entries(guids).map(([kind, guid]) => [guid, kind as Kind]))

/** The type of an app in words; answers name it by guid, and some by name. */
export function kindOf(type: string): string {
  const kind = kinds.get(type) ?? (type in guids ? (type as Kind) : undefined)
  return kind === undefined ? type : texts.kinds[kind]
}

/** The type of an app by the name that the API takes. */
export const kindName = (type: string): Kind | undefined => kinds.get(type)

/** Names for nodes: their machines, and where several run on one, the first characters of their ids too. */
export function namesOfNodes(nodes: { id: string; host: string }[]): (node: string) => string {
  return node => {
    const host = nodes.find(({ id }) => id === node)?.host
    if (host === undefined) return node.slice(0, 8)
    return nodes.filter(other => other.host === host).length === 1 ? host : `${host} · ${node.slice(0, 4)}`
  }
}

export function UserLink({ user }: { user: Named & { is_agent?: boolean | undefined } }) {
  return <Link to={`/${user.is_agent ? 'agents' : 'users'}/${user.id}`}>{nameOf(user)}</Link>
}

export function AppLink({ app }: { app: Named }) {
  return <Link to={`/apps/${app.id}`}>{nameOf(app)}</Link>
}
