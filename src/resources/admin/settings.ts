import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { hasClearSecrets } from '../seals.ts'
import { SettingShape } from './setting-info.ts'

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
