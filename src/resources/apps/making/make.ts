import type { Context, Served } from '../../route.ts'
import type { IdempotencyKey } from '../../../api/idempotency-key.ts'
import { ignoreNotFound, invalid, Problem } from '../../../lib/errors.ts'
import { UidInput } from '../../../api/shape.ts'
import { resolvePeople } from '../../users/store.ts'
import { upsertApp } from '../commands.ts'
import { createApp, type AppDraft, type Created } from './create.ts'
import { openApp } from '../find.ts'
import { toChange, toDraft } from './prepare.ts'
import type { AppUpsert } from '../schema.ts'
import { showAgain } from '../own/settings.ts'
import { findAppId } from '../store.ts'

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

/** The most attempts, where others make or delete the app between look-up and command. */
const mostLooks = 3

/**
 * Makes the app with the uid of the path, or updates it. A token's call lets the caller join where the app was made by
 * such a call, and shows a private chat again that the caller had removed, without its old messages. Refuses with 403
 * for an app that the caller may not see, with 422 for one of another type.
 */
export async function upsertByUid(named: string, body: AppUpsert, context: Context): Promise<Created> {
  const { by, sql } = context
  const uid = UidInput.safeParse(named)
  if (!uid.success) throw invalid({ uid: uid.error.issues.map(issue => issue.message) })
  for (let looks = 1; ; looks++) {
    const found = await findAppId(sql, uid.data, by)
    try {
      return found === null ? await make(uid.data, body, context) : await update(found, body, context)
    } catch (error) {
      // Made or deleted since the look-up: then the other branch applies.
      const isOld = error instanceof Problem && (await findAppId(sql, uid.data, by)) !== found
      if (!isOld || looks === mostLooks) throw error
    }
  }
}

async function make(uid: string, body: AppUpsert, context: Context): Promise<Created> {
  const { by, upsertsJoin } = context
  const isJoinable = upsertsJoin && by.kind === 'user'
  return makeApp(await toDraft({ ...body, uid }, isJoinable, context), context)
}

async function update(id: number, body: AppUpsert, context: Context): Promise<Created> {
  const { by, sql, apps, upsertsJoin } = context
  const { type, members: refs, ...details } = body
  const ids = await resolvePeople(sql, refs ?? [])
  const members = (refs ?? []).map(ref => ids.get(ref) ?? 0)
  const { level } = await openApp(id, 'none', context)
  // Changes that the caller may not make are ignored, so they are not resolved either.
  const change = level === 'admin' ? await toChange(details, context) : { name: details.name }
  await apps.run(upsertApp, id, by, { type, members, change, upsertsJoin })
  if (type === 'private_chat' && by.kind === 'user') await apps.run(showAgain, id, by, undefined)
  return { id, isNew: false }
}
