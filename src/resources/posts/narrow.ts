import { invalid } from '../../lib/errors.ts'
import { toAppIds } from '../apps/find.ts'
import type { Narrowing } from '../content/lists/list.ts'
import type { Served } from '../route.ts'
import type { PostListing } from './schema.ts'

type Caller = Served<'sql' | 'by'>

/** The restrictions of a list of posts. 422 for an API key that asks for posts by followed users. */
export async function toNarrowing({ app, before, after, following }: PostListing, caller: Caller): Promise<Narrowing> {
  const { by } = caller
  if (following && by.kind !== 'user')
    throw invalid({ following: ['needs an access token: an API key follows no users'] })
  return {
    ...(app && { apps: await toAppIds(app, caller) }),
    ...(before !== undefined && { before: toId(before) }),
    ...(after !== undefined && { after: toId(after) }),
    ...(following && { followedBy: by.user }),
  }
}

/** The nearest bound that can be an id. */
function toId(bound: number): number {
  return Math.max(-1, Math.min(bound, Number.MAX_SAFE_INTEGER))
}
