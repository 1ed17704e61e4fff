import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { hasClearSecrets } from '../seals.ts'

/** A setting as it is shown. */
export interface SettingInfo {
  /** The environment variable. */
  name: string
  /** `[set]` for a secret; null where there is none. */
  value: string | null
  default: string | null
  source: 'env' | '.env' | 'default'
  description: string
  /** What a careful owner would change about it now; absent where all is well. */
  warning?: string
}

export const SettingShape = z
  .object({
    name: z.string().describe('The environment variable'),
    value: z.string().optional().describe('`[set]` stands for a secret; absent where there is none'),
    default: z.string().optional(),
    source: z.enum(['env', '.env', 'default']),
    description: z.string(),
    warning: z.string().optional().describe('What a careful owner would change about it now'),
  })
  .meta({ id: 'Setting' })

export const listSettings = route('GET /api/admin/settings', {
  summary: 'List the settings of this node, and where they come from',
  auth: 'key',
  replies: { 200: z.array(SettingShape) },
  async handle(_, { settings, sql, vault }) {
    const isClear = await hasClearSecrets(sql, vault)
    return reply(
      200,
      settings.map(one => (isClear && one.name === 'SECRET_KEYS' ? { ...one, warning: clearSecrets } : one)),
    )
  },
})

const clearSecrets = 'Webhook secrets and agent headers are stored unencrypted: SECRET_KEYS is not set.'
