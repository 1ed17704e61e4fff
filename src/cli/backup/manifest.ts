import { z } from 'zod'
import { StartFault } from '../../lib/errors.ts'
import { formatVersion } from './archive.ts'

/** A name in the database, to be used in SQL. Quoted, any name would do; ours are plain. */
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)

const Partition = z.object({
  name: Name,
  /** As PostgreSQL writes it: `FOR VALUES FROM ('2026-11-23 00:00:00+00') TO (…)`. */
  bounds: z.string().regex(/^FOR VALUES FROM \('[0-9 :+-]+'\) TO \('[0-9 :+-]+'\)$/),
})

export const Table = z.object({
  name: Name,
  /** Stored columns, without generated ones. */
  columns: z.array(Name),
  partitions: z.array(Partition),
})
export type Table = z.infer<typeof Table>

/** The first entry of a backup: its contents, and the version that made it. */
export const Manifest = z.object({
  format: z.literal(formatVersion),
  version: z.string(),
  postgres: z.string(),
  created_at: z.iso.datetime(),
  migrations: z.array(z.object({ name: z.string(), digest: z.string().nullable() })),
  tables: z.array(Table),
  has_files: z.boolean(),
})
export type Manifest = z.infer<typeof Manifest>

/** The value of each sequence; names are validated, because they are used in SQL. */
export const Sequences = z.array(z.object({ name: Name, last_value: z.number().int().nullable() }))
export type Sequences = z.infer<typeof Sequences>

export function readManifest(value: unknown): Manifest {
  const { format } = Object(value) as { format?: unknown }
  if (typeof format === 'number' && format > formatVersion) {
    throw new StartFault(`The backup has format ${format}, which a newer version of Parley reads. Use that version.`)
  }
  const { success, data, error } = Manifest.safeParse(value)
  if (!success) throw new StartFault('The backup is damaged: its manifest cannot be read.', { cause: error })
  return data
}
