import type { Apps } from '../../engine/apps.ts'
import type { AppState } from '../../engine/state.ts'
import { findStates } from '../apps/find.ts'
import { namesakes } from '../apps/naming.ts'
import { showAppSummary, type Viewer } from '../apps/represent.ts'
import { showCitedFile, showFile } from '../files/represent.ts'
import type { FileRow } from '../files/schema.ts'
import { canRead } from '../apps/members/access.ts'
import type { Parts } from './parts.ts'

/** The files apps that annotations come from, by id. */
export type AnnotationApps = ReadonlyMap<number, AppState>

export const noAnnotationApps: AnnotationApps = new Map()

/** Reads the apps that the annotations of some items come from, with everybody they name. Most items have none. */
export async function loadAnnotationApps(
  parts: ReadonlyMap<number, Parts>,
  apps: Apps,
  { by, userCache }: Viewer,
): Promise<AnnotationApps> {
  const ids = new Set<number>()
  for (const { annotations } of parts.values()) for (const { app_id } of annotations) ids.add(app_id)
  if (ids.size === 0) return noAnnotationApps
  const states = await findStates(ids, { by, apps, userCache })
  await userCache.load([...states.values()].flatMap(namesakes))
  return states
}

/** Who may not read a file's app sees what the file is, and no way to its content. */
export function showAnnotation(file: FileRow, apps: AnnotationApps, viewer: Viewer) {
  const state = apps.get(file.app_id)
  if (state === undefined) return []
  const { by, userCache } = viewer
  const isReadable = by.kind === 'key' || canRead(state, by.user, userCache)
  const shown = isReadable ? showFile(file, viewer) : showCitedFile(file, viewer)
  return [{ ...shown, app: showAppSummary(state, viewer) }]
}
