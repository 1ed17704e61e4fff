import { z } from 'zod'
import { kinds } from '../../agents/providers/kinds.ts'
import { ReferenceInput } from '../../api/reference.ts'
import { Int, LineInput, Metadata, pagedList, Timestamp } from '../../api/shape.ts'
import { Listing, QueryFlag } from '../../api/page.ts'
import { Blob } from '../blobs/schema.ts'
import { DirectoryRef, NewUser, UserQuery, UserUpdate } from '../users/schema.ts'
import { mostFunctions, NewAgentFunction } from './functions/schema.ts'

export const builtin = 'builtin'

export const Provider = z.enum(kinds.map(({ id }) => id))
export type Provider = z.output<typeof Provider>

export const AgentPath = z.object({ agent: z.string().describe('Id or uid of an agent') })
export const AgentUidPath = z.object({ uid: z.string() })
export const AgentQuery = UserQuery

const ModelInput = z.string().trim().min(1, 'must not be empty').max(256).describe('Model name of the provider')

/** An integer of a request, as a number or in digits. */
const TokensInput = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,10}$/, 'must be a whole number')
      .transform(Number),
  ])
  .pipe(z.int().min(1).max(2_147_483_647))
  .meta({ type: ['integer', 'string'] })

const settings = {
  instructions: z.string().max(32_768).nullish().describe('System instructions: objectives, tone, style'),
  functions: z
    .array(NewAgentFunction)
    .max(mostFunctions)
    .refine(list => new Set(list.map(({ name }) => name)).size === list.length, 'names must be unique')
    .nullish()
    .describe('Endpoints that the agent may call; replaces the whole set'),
  knowledge: z.array(ReferenceInput).max(100).nullish().describe('Ids or uids of files apps'),
  web_search: z.boolean().nullish(),
  max_tokens: TokensInput.nullish().describe('Most tokens to generate; null: what the provider does by default'),
}

/** The members of a user's profile that apply to agents. */
const profile = UserUpdate.pick({ picture: true, directories: true, comment: true, tags: true, metadata: true }).shape

export const AgentUpdate = z.object({
  ...profile,
  uid: UserUpdate.shape.uid,
  name: UserUpdate.shape.name.describe('Used in listings and mentions'),
  provider: Provider.optional().describe('builtin only for agents that have it'),
  model: ModelInput.optional(),
  ...settings,
})
export type AgentUpdate = z.output<typeof AgentUpdate>

export const NewAgent = AgentUpdate.extend({
  uid: NewUser.shape.uid,
  name: LineInput(256).refine(name => name !== null, 'must not be empty'),
  provider: Provider,
  model: ModelInput,
})

export const AgentListing = Listing.extend({
  autocomplete: QueryFlag.optional().describe('true (default): words of q may be beginnings; false: whole words'),
  directory: z.string().optional().describe('Id or name: only agents in that directory'),
})

/** An agent in lists. */
export const AgentSummary = z
  .object({
    id: Int,
    uid: z.string().optional(),
    name: z.string(),
    provider: Provider,
    model: z.string(),
    instructions: z.string().optional().describe('Only for API keys'),
    functions: z.array(z.string()).optional().describe('Names; only for API keys'),
    knowledge: z.array(Int).optional().describe('Ids of files apps; only for API keys'),
    web_search: z.boolean(),
    max_tokens: Int.optional(),
    avatar_url: z.string().optional(),
    directories: z.array(DirectoryRef).optional(),
    comment: z.string().optional(),
    tags: z.array(z.string()).optional(),
    metadata: Metadata.optional(),
    created_at: Timestamp,
    updated_at: Timestamp.optional(),
    is_agent: z.literal(true),
    is_trashed: z.boolean(),
  })
  .meta({ id: 'AgentSummary' })

/** A detailed agent. */
export const Agent = AgentSummary.extend({ picture: Blob.optional() }).meta({ id: 'Agent' })

export const AgentList = pagedList(z.union([Agent, AgentSummary]))
