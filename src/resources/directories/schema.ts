import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { ReferenceInput } from '../../api/reference.ts'
import { Int, pagedList, UidInput } from '../../api/shape.ts'
import { DirectoryRef, UserSummary } from '../users/schema.ts'

export const DirectoryPath = z.object({ dir: z.string().describe('Id or name of a directory') })
export const DirectoryMemberPath = DirectoryPath.extend({ user: z.string().describe('Id or uid of a user or agent') })

export const NewDirectory = z.object({
  name: UidInput,
})

/** Ids or uids; all of them or none. */
export const PeopleRefs = z.array(ReferenceInput).max(500)

export const Directory = z
  .object({ id: Int, name: z.string(), members: pagedList(UserSummary).describe('The first 25, by name') })
  .meta({ id: 'Directory' })

export const DirectoryList = pagedList(DirectoryRef)

export const DirectoryExists = problem(409, 'directory-exists', 'There is a directory with this name.')
export const PeopleUnknown = problem(404, 'people-unknown', 'There is no such user; nothing was changed.')
