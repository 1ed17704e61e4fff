import type { Person } from '../../actors/people.ts'
import type { Sql } from '../../storage/sql.ts'
import { showPicture } from '../blobs/picture.ts'
import { showUser, type Presence, type Viewer } from './represent.ts'

/** The detailed user, with its picture. */
export async function showDetailed(person: Person, viewer: Viewer & { presence: Presence; sql: Sql }): Promise<object> {
  const shown = showUser(person, viewer)
  if (person.picture_id === null) return shown
  return { ...shown, picture: await showPicture(viewer.sql, person.picture_id, viewer.origin) }
}
