import type { User } from '../../auth/user-cache.ts'
import { showPicture, showPictures } from '../blobs/pictures/picture.ts'
import type { Served } from '../route.ts'
import { showUserSummary, type Viewer } from './represent.ts'

/** The detailed user, with its picture. */
export async function showDetailed(person: User, viewer: Viewer & Served<'sql'>): Promise<object> {
  const shown = showUserSummary(person, viewer)
  if (person.picture_id === null) return shown
  return { ...shown, picture: await showPicture(viewer.sql, person.picture_id, viewer.origin) }
}

/** The users of a list: summaries, or whole where the caller asks for that. */
export async function showPersons(
  persons: User[],
  { representation, ...viewer }: Viewer & Served<'sql' | 'representation'>,
): Promise<object[]> {
  const summaries = persons.map(person => showUserSummary(person, viewer))
  if (representation.items === 'summary') return summaries
  const pictures = await showPictures(viewer.sql, persons, viewer.origin)
  return summaries.map(summary => ({ ...summary, picture: pictures.get(summary.id) ?? null }))
}
