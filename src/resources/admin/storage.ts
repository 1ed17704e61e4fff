import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { Int, Timestamp } from '../../api/shape.ts'
import { showType } from '../apps/kinds.ts'
import { AppType } from '../apps/schema.ts'
import { countStorage, listTotals, sumTotals } from './storage-store.ts'

export const Storage = z
  .object({
    counted_at: Timestamp.optional(),
    files: Int,
    bytes: Int,
    apps: z
      .array(
        z.object({
          app: z.object({
            id: Int,
            uid: z.string().optional(),
            name: z.string().optional(),
            type: AppType.type.optional(),
            kind: AppType.kind.optional(),
          }),
          files: Int.describe('With their versions'),
          bytes: Int,
        }),
      )
      .optional(),
  })
  .meta({ id: 'Storage' })

export const showStorage = route('GET /api/admin/storage', {
  summary: 'Get what files take up, by app, the largest hundred; counted once an hour at most',
  auth: 'key',
  isHeavy: true,
  replies: { 200: Storage },
  async handle(_, { sql, now }) {
    await countStorage(sql, now())
    const [total, rows] = await Promise.all([sumTotals(sql), listTotals(sql, 100)])
    const apps = rows.map(({ app_id, uid, name, type, files, bytes }) => ({
      app: { id: app_id, uid, name, ...(type !== null && showType(type)) },
      files,
      bytes,
    }))
    return reply(200, { ...total, apps })
  },
})
