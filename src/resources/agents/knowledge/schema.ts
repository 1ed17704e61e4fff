import { z } from 'zod'
import { Int, pagedList } from '../../../api/shape.ts'

/** A file that an agent searches, and the state of its indexing. */
export const KnowledgeFile = z
  .object({
    file: z.object({ id: Int, name: z.string() }),
    app: z.object({ id: Int, name: z.string().optional() }),
    state: z.enum(['pending', 'indexed', 'skipped', 'failed']),
    reason: z.string().optional().describe('Why it cannot be searched'),
    passages: Int,
  })
  .meta({ id: 'KnowledgeFile' })
export const KnowledgeFiles = pagedList(KnowledgeFile)
