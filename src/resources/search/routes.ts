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
  async handle({ query }, context) {
    const { finds, cursor, question } = await search(query, context)
    return reply(200, { data: await showHits(finds, question, context), cursor })
  },
})

export const routes = [find]
