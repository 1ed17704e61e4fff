import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { Range, toPage, toPagedList } from '../../../api/page.ts'
import { requireAgentId } from '../find.ts'
import { AgentPath } from '../schema.ts'
import { KnowledgeFiles } from './schema.ts'
import { findKnowledge, listKnowledge, type KnowledgeRow } from './store.ts'

const list = route('GET /api/agents/{agent}/knowledge', {
  summary: 'List the files that an agent searches',
  auth: 'key',
  params: AgentPath,
  query: Range,
  replies: { 200: KnowledgeFiles },
  problems: [NotFound],
  async handle({ params, query }, { sql }) {
    const apps = await findKnowledge(sql, await requireAgentId(sql, params.agent))
    const page = toPage(query, ['id'], 'id')
    const { rows, count } = await listKnowledge(sql, apps, page)
    return reply(200, toPagedList(page, count, rows.map(showKnowledge)))
  },
})

function showKnowledge({ file_id, file_name, app_id, app_name, state, error, passages }: KnowledgeRow) {
  return { file: { id: file_id, name: file_name }, app: { id: app_id, name: app_name }, state, reason: error, passages }
}

export const knowledgeRoutes = [list]
