import type { ParentStore } from '../content/parent.ts'
import { changeCounts, findFile } from './store.ts'

/** Files of files apps, as what comments are about. Attachments take none. */
export const fileParent: ParentStore = {
  async find(db, id) {
    const file = await findFile(db, id)
    return file === null || file.parent_id !== null ? null : file
  },
  changeCounts,
}
