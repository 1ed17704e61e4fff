import { NotFound } from '../../lib/errors.ts'
import { changeFileCounts } from '../content/file-parent.ts'
import { starring } from '../stars/starring.ts'
import { loadItemTarget, type LoadTarget } from '../stars/target.ts'
import { requireShown } from './find.ts'
import { findFile } from './store.ts'

const load: LoadTarget = async (db, app, _type, id) => {
  const file = await findFile(db, id)
  if (file === null || file.app_id !== app || file.trashed_at !== null) throw NotFound()
  // An attachment is hidden with its item.
  if (file.parent_type !== null) await loadItemTarget(db, app, file.parent_type, file.parent_id!)
  return { ...file, changeCounts: changeFileCounts }
}

/** POST and DELETE /api/files/{id}/stars. */
export const starRoutes = starring({
  type: 'file',
  find: async (id, request) => (await requireShown(String(id), request)).file,
  load,
})
