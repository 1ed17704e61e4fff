import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { SearchHits, SearchQuery } from './schema.ts'
import { search } from './search.ts'
import { showHits } from './show.ts'

const find = route('GET /api/search', {
  summary: 'Search messages, posts, comments, files, people and apps that the caller may see',
  auth: 'token or key',
  isHeavy: true,
  query: SearchQuery,
  replies: { 200: SearchHits },
  async handle({ query, by, representation, origin }, { sql, apps, userCache }) {
    const caller = { by, representation, origin, sql, apps, userCache }
    const { finds, cursor, question } = await search(query, caller)
    return reply(200, { data: await showHits(finds, question, caller), cursor })
  },
})

export const routes = [find]
