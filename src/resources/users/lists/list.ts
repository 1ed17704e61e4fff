import type { Served } from '../../route.ts'
import { toPage, toPagedList } from '../../../api/page.ts'
import { findFollowed } from '../follows/store.ts'
import type { PersonListing } from '../schema.ts'
import { showPersons } from '../show.ts'
import { listPersons, type Belonging, type PersonOrder } from './pages.ts'

const orderFields: PersonOrder[] = ['id', 'name', 'created_at']

type Request = Served<'sql' | 'presence' | 'by' | 'origin' | 'representation'>

/** One page of the users whom the caller can see, by name; of those in all sets of `within`. */
export async function listPage(query: PersonListing, within: Partial<Belonging>, request: Request) {
  const { sql, by, origin, representation, presence } = request
  const { agent, system, autocomplete, directory } = query
  const page = toPage(query, orderFields, 'name')
  const directories = [...(within.directories ?? []), ...(directory === undefined ? [] : [directory])]
  const filter = { by, agent, system, autocomplete, ...within, directories }
  const { count, persons } = await listPersons(sql, filter, page)
  const ids = persons.map(({ id }) => id)
  const viewer = { by, origin, followed: await findFollowed(sql, by, ids), presence, sql, representation }
  return toPagedList(page, count, await showPersons(persons, viewer))
}
