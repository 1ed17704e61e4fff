import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { Int, Timestamp } from '../../api/shape.ts'

const Figure = z.union([z.string().regex(/^\d+(\.\d+)?$/), z.number()])

export const Node = z
  .object({
    id: z.uuid(),
    version: z.string(),
    host: z.string().describe('The name of the machine'),
    started_at: Timestamp,
    seen_at: Timestamp.describe('When it was heard of last; each node speaks every ten seconds'),
    sessions: Int.describe('Realtime connections'),
    waiting: Int.describe('Commands that wait'),
    lag_ms: Figure.describe('How late its event loop was'),
    rss: Int.describe('Memory in bytes'),
    disk: z
      .object({ size: Int, free: Int })
      .optional()
      .describe('Bytes of the disk that DATA_DIR lies on, and how many are free; absent where the system does not say'),
    is_current: z.boolean().describe('It has answered this request'),
  })
  .meta({ id: 'Node' })

export const listNodes = route('GET /api/admin/nodes', {
  summary: 'List the nodes that run',
  auth: 'key',
  replies: { 200: z.array(Node) },
  async handle(_, { monitor }) {
    const nodes = await monitor.listNodes()
    return reply(
      200,
      nodes.map(({ jobs: _, figures: { lag_ms, ...figures }, ...node }) => ({
        ...node,
        ...figures,
        lag_ms: Math.round(lag_ms * 10) / 10,
        is_current: node.id === monitor.id,
      })),
    )
  },
})
