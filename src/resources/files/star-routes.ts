import { NotFound } from '../../lib/errors.ts'
import { changeFileCounts } from '../content/file-parent.ts'
import { kinds } from '../content/kinds.ts'
import { loadItemTarget, type LoadTarget } from '../stars/commands.ts'
import { starring } from '../stars/starring.ts'
import { requireShown } from './find.ts'
import { findFile } from './store.ts'

const load: LoadTarget = async (db, app, id) => {
  const file = await findFile(db, id)
  if (file === null || file.app_id !== app || file.trashed_at !== null) throw NotFound()
  // An attachment is hidden with its item.
  if (file.parent_type !== null) await loadItemTarget(kinds[file.parent_type])(db, app, file.parent_id!)
  return { ...file, changeCounts: changeFileCounts }
}

/** POST and DELETE /api/files/{id}/stars. */
export const starRoutes = starring({
  type: 'file',
  find: async (id, request) => (await requireShown(String(id), request)).file,
  load,
})
