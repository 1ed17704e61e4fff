import type { Served } from '../../route.ts'
import type { IdempotencyKey } from '../../../api/idempotency-key.ts'
import { ignoreNotFound } from '../../../lib/errors.ts'
import { createApp, type AppDraft, type Created } from './create.ts'
import { showAgain } from '../own/settings.ts'

/** Makes an app. A private chat that the caller had removed is shown again, without its old messages. */
export async function makeApp(
  draft: AppDraft,
  { by, apps, globalCommands }: Served<'by' | 'apps' | 'globalCommands'>,
  idempotencyKey?: IdempotencyKey,
): Promise<Created> {
  const created = await globalCommands.run(createApp, by, draft, idempotencyKey)
  if (created.isNew || by.kind !== 'user') return created
  try {
    await apps.run(showAgain, created.id, by, undefined)
    return created
  } catch (error) {
    // The other member has removed it as well, which deletes it: another attempt makes a new one.
    ignoreNotFound(error)
    return globalCommands.run(createApp, by, draft)
  }
}
