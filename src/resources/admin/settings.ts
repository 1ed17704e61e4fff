import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'

/** A setting as it is shown. */
export interface SettingInfo {
  /** The environment variable. */
  name: string
  /** `[set]` for a secret; null where there is none. */
  value: string | null
  default: string | null
  source: 'env' | '.env' | 'default'
  description: string
}

export const SettingShape = z
  .object({
    name: z.string().describe('The environment variable'),
    value: z.string().optional().describe('`[set]` stands for a secret; absent where there is none'),
    default: z.string().optional(),
    source: z.enum(['env', '.env', 'default']),
    description: z.string(),
  })
  .meta({ id: 'Setting' })

export const listSettings = route('GET /api/admin/settings', {
  summary: 'List the settings of this node, and where they come from',
  auth: 'key',
  replies: { 200: z.array(SettingShape) },
  handle: (_, { settings }) => reply(200, [...settings]),
})
