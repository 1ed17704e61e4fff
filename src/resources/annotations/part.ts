import { z } from 'zod'
import { toFirstItems } from '../../api/page.ts'
import { Int, pagedList } from '../../api/shape.ts'
import type { AppState } from '../../engine/state.ts'
import { findStates } from '../apps/find.ts'
import { canRead } from '../apps/members/access.ts'
import { namesakes } from '../apps/naming.ts'
import { showAppSummary, type Viewer } from '../apps/represent.ts'
import { part, type PartReader } from '../content/parts/part.ts'
import { presentCitedFile, showCitedFile, showFile } from '../files/represent.ts'
import { EventFile, File, type FileRow } from '../files/schema.ts'
import { listAnnotations, removeAnnotationsOf } from './store.ts'

/** The files apps of cited files, by id. */
type CitedApps = ReadonlyMap<number, AppState>

/** The app of a cited file is given by id only: not all readers of an event have access to it. */
const EventCitedFile = EventFile.extend({ app: z.object({ id: Int }) }).meta({ id: 'EventCitedFile' })

/** The files that an agent's answer cites, in order, without trashed ones. They are in other apps. */
export const annotationsPart = part<FileRow[], CitedApps>()({
  none: [],
  // Answers of agents name their run.
  column: 'metadata',
  isMarked: ({ metadata }) => typeof metadata?.run === 'string',
  load(db, items) {
    const ids = items.map(({ id }) => id)
    return listAnnotations(db, ids)
  },
  names: files => files.flatMap(({ created_by, updated_by }) => [created_by, updated_by ?? created_by]),
  readAbout: async (_items, values, reader) => readApps([...(await values()).values()].flat(), reader),
  shown: pagedList(File).describe('Files that contributed to the answer of an agent'),
  show: (files, { viewer, about: apps }) => toFirstItems(files.flatMap(file => showAnnotation(file, apps, viewer))),
  told: pagedList(EventCitedFile).optional(),
  present: (files, _item, context) => toFirstItems(files.map(file => presentCitedFile(file, context))),
  withoutWords: () => [],
  remove: (work, { type, id }) => work.write(removeAnnotationsOf, { item_type: type, item_id: id }),
  removeFromGone: (db, type) => [
    db`delete from item_annotations a using gone g where a.item_type = ${type} and a.item_id = g.id`,
  ],
})

/** Loads the apps of cited files, and all users that they name. */
async function readApps(files: readonly FileRow[], { by, apps, userCache }: PartReader): Promise<CitedApps> {
  if (files.length === 0 || apps === undefined) return new Map()
  const states = await findStates(new Set(files.map(({ app_id }) => app_id)), { by, apps, userCache })
  await userCache.load([...states.values()].flatMap(namesakes))
  return states
}

/** Without access to the file's app, a reader sees the file's name and type, and no link to its content. */
function showAnnotation(file: FileRow, apps: CitedApps, viewer: Viewer) {
  const state = apps.get(file.app_id)
  if (state === undefined) return []
  const { by, userCache } = viewer
  const isReadable = by.kind === 'key' || canRead(state, by.user, userCache)
  const shown = isReadable ? showFile(file, viewer) : showCitedFile(file, viewer)
  return [{ ...shown, app: showAppSummary(state, viewer) }]
}
