import { posix } from 'node:path'
import type { Archive } from './archive.ts'
import { readXml } from './xml.ts'

/** The parts that a part of an office file refers to, by the ids that it uses for them. */
export function readRelations(archive: Archive, part: string): Map<string, string> {
  const { dir, base } = posix.parse(part)
  const xml = archive.read(`${dir}/_rels/${base}.rels`)
  const relations = new Map<string, string>()
  if (xml === null) return relations
  readXml(xml, {
    open(name, { Id, Target, TargetMode }) {
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return
      relations.set(Id, Target.startsWith('/') ? Target.slice(1) : posix.join(dir, Target))
    },
  })
  return relations
}
