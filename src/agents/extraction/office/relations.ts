import { posix } from 'node:path'
import { readXml } from '../markup.ts'
import type { Archive } from './archive.ts'

/** The parts that a part of an office file names in its elements of this name, in their order. */
export function listParts(archive: Archive, whole: string, element: string) {
  const relations = readRelations(archive, whole)
  const parts: { name: string | undefined; part: string }[] = []
  readXml(archive.require(whole), {
    open(opened, attributes) {
      const part = opened === element ? relations.get(attributes['r:id'] ?? '') : undefined
      if (part !== undefined) parts.push({ name: attributes.name, part })
    },
  })
  return parts
}

/** The parts that a part refers to, by the ids that it uses for them. */
function readRelations(archive: Archive, part: string): Map<string, string> {
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
